import type { ServerResponse } from "node:http";
import type { EventType } from "../../contract/event-types.ts";
import type { Services } from "../services.ts";
import { DamagedEventError } from "../storage/event-body.ts";
import { readLog } from "../storage/event-log.ts";
import type { Watched } from "./credential-watch.ts";
import type { Position } from "./position.ts";
import { ReadLoop } from "./read-loop.ts";
import { BUFFERED_BYTES_MOST, ReadSize } from "./read-size.ts";

/** How often a quiet stream says that it lives. */
const BEAT_MILLISECONDS = 1000;
/** How long a reader should wait before it comes again. */
const RETRY_MILLISECONDS = 1000;

export interface StreamSettings {
  environment: number;
  types: readonly EventType[];
  position: Position;
}

/** One reader. The log is the only source, read on behind the stream's position when events are committed. */
export class EventStream implements Watched {
  private readonly services: Services;
  private readonly response: ServerResponse;
  private readonly settings: StreamSettings;
  private readonly loop: ReadLoop;
  private readonly size = new ReadSize();
  private place: Position["place"];
  private unsubscribe: (() => void) | undefined;
  private cancelBeat: (() => void) | undefined;
  private stopped = false;

  constructor(services: Services, response: ServerResponse, settings: StreamSettings) {
    this.services = services;
    this.response = response;
    this.settings = settings;
    this.place = settings.position.place;
    this.loop = new ReadLoop({
      clock: services.clock,
      read: () => this.read(),
      failed: (error) => {
        services.log.error({ err: error }, "a stream of events could not be served");
        this.end();
      },
    });
  }

  start(): void {
    const ready = JSON.stringify({ cursor: this.settings.position.cursor });
    this.response.write(`retry: ${RETRY_MILLISECONDS}\nevent: ready\ndata: ${ready}\n\n`);
    this.unsubscribe = this.services.database.onWake("events", () => this.loop.ask());
    this.response.on("drain", () => this.loop.ask());
    this.beat();
    this.loop.ask();
  }

  stop(): void {
    this.stopped = true;
    this.loop.stop();
    this.unsubscribe?.();
    this.cancelBeat?.();
  }

  end(): void {
    this.stop();
    this.response.end();
  }

  /** The reply to its next request says why. */
  refuse(): void {
    this.end();
  }

  private beat(): void {
    this.cancelBeat = this.services.clock.after(BEAT_MILLISECONDS, () => {
      this.response.write(": still here\n\n");
      this.beat();
    });
  }

  /** Reads nothing while the reader is slow; `drain` goes on. */
  private async read(): Promise<"end" | "more" | "held back"> {
    if (this.response.writableNeedDrain) return "end";
    const { environment, types } = this.settings;
    const limit = this.size.events;
    const { events, heldBack } = await readLog(this.services.database, environment, this.place, types, limit);
    this.size.learn(events);
    if (this.stopped) return "end";
    for (const { place, id, body, isDamaged, replayId } of events) {
      if (this.response.writableLength > BUFFERED_BYTES_MOST) return "end";
      this.place = place;
      if (isDamaged) {
        this.services.log.error({ err: new DamagedEventError(id) }, "an event could not be sent to a stream");
        continue;
      }
      const name = replayId === undefined ? "event" : "replay";
      this.response.write(`id: ${replayId ?? id}\nevent: ${name}\ndata: ${body}\n\n`);
    }
    if (events.length === limit) return "more";
    return heldBack ? "held back" : "end";
  }
}
