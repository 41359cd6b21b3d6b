import type { ServerResponse } from "node:http";
import type { EventType } from "../../contract/event-types.ts";
import type { Tenant } from "../domain/request-context.ts";
import type { Services } from "../services.ts";
import type { LoggedEvent } from "../storage/event-log.ts";
import type { Watched } from "./credential-watch.ts";
import { type LogClient, LogReader, MAX_BUFFERED_BYTES } from "./log-reader.ts";
import { cursorOf, type Start } from "./position.ts";

/** How often a quiet stream says that it lives. */
const BEAT_MILLISECONDS = 1000;
/** How long a client should wait before it reconnects. */
const RETRY_MILLISECONDS = 1000;

/**
 * One client of server-sent events. Events and replays are messages of the default type; `ready` and `gap` have names, so
 * that whoever listens to messages gets nothing but events. The ID of `ready` and of every event is what to go on from.
 */
export class EventStream implements LogClient, Watched {
  readonly #services: Services;
  readonly #response: ServerResponse;
  readonly #cursor: string;
  readonly #reader: LogReader;
  #cancelBeat: (() => void) | undefined;

  constructor(
    services: Services,
    response: ServerResponse,
    { tenant, types, start }: { tenant: Tenant; types: readonly EventType[]; start: Start },
  ) {
    this.#services = services;
    this.#response = response;
    this.#cursor = cursorOf(start.position);
    this.#reader = new LogReader(services, tenant, types, start, this);
  }

  start(): void {
    const cursor = this.#cursor;
    this.#response.write(`retry: ${RETRY_MILLISECONDS}\n`);
    this.#write({ name: "ready", id: cursor, data: JSON.stringify({ cursor }) });
    this.#response.on("drain", () => this.#reader.ask());
    this.#beat();
    this.#reader.start();
  }

  stop(): void {
    this.#reader.stop();
    this.#cancelBeat?.();
  }

  end(): void {
    this.stop();
    this.#response.end();
  }

  /** The response to its next request says why. */
  refuse(): void {
    this.end();
  }

  room(): number {
    return this.#response.writableNeedDrain ? 0 : Infinity;
  }

  send(events: readonly LoggedEvent[]): number {
    let sent = 0;
    for (const { id, body, replayId } of events) {
      if (this.#response.writableLength > MAX_BUFFERED_BYTES) break;
      this.#write({ id: replayId ?? id, data: body });
      sent += 1;
    }
    return sent;
  }

  gap(from: string, to: string): void {
    this.#write({ name: "gap", data: JSON.stringify({ from, to }) });
  }

  failed(error: unknown): void {
    this.#services.log.error({ err: error }, "a stream of events could not be served");
    this.end();
  }

  #write({ name, id, data }: { name?: string; id?: string; data: string }): void {
    const fields = [...(id === undefined ? [] : [`id: ${id}`]), ...(name === undefined ? [] : [`event: ${name}`])];
    this.#response.write(`${[...fields, `data: ${data}`].join("\n")}\n\n`);
  }

  #beat(): void {
    this.#cancelBeat = this.#services.clock.after(BEAT_MILLISECONDS, () => {
      this.#response.write(": still here\n\n");
      this.#beat();
    });
  }
}
