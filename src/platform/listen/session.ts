import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { EventType } from "../../contract/event-types.ts";
import { FrameError, parseClientFrame, type PlatformFrame } from "../../contract/listen.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { ApiError } from "../domain/api-error.ts";
import type { Services } from "../services.ts";
import { DamagedEventError } from "../storage/event-body.ts";
import { type LoggedEvent, type LogPlace, readLog } from "../storage/event-log.ts";
import type { AckRecorder } from "./acks.ts";
import type { Watched } from "./credential-watch.ts";
import { ReadLoop } from "./read-loop.ts";
import { BUFFERED_BYTES_MOST, ReadSize } from "./read-size.ts";

/** Room for so many events is worth a read, however large the window is. */
const ROOM_WORTH_A_READ = 128;

export interface SessionSettings {
  environment: number;
  types: readonly EventType[];
  /** The most unacknowledged events in flight. */
  window: number;
  /** Where to start in the log. */
  position: LogPlace;
}

/**
 * One listening client. The log is the only source: backfill and live are the same read behind the session's position,
 * repeated when events are committed and when acknowledgements make room, so there is no cutover to get wrong.
 */
export class ListenSession implements Watched {
  private readonly services: Services;
  private readonly socket: WebSocket;
  private readonly stream: Duplex;
  private readonly settings: SessionSettings;
  private readonly recorder: AckRecorder;
  private readonly unacknowledged = new Map<number, { id: string; type: string }>();
  private position: LogPlace;
  private readonly loop: ReadLoop;
  private readonly size = new ReadSize();
  /** True where there may be more to read once the client has taken what it was sent. */
  private isHeldUp = false;
  private sent = 0;
  private heardAt: number;
  private readonly stops: (() => void)[] = [];
  /** Resolves once the socket is closed, by whichever side. */
  readonly closed: Promise<void>;

  constructor(services: Services, socket: WebSocket, stream: Duplex, settings: SessionSettings, recorder: AckRecorder) {
    this.services = services;
    this.socket = socket;
    this.stream = stream;
    this.settings = settings;
    this.recorder = recorder;
    this.position = settings.position;
    this.heardAt = services.clock.elapsed();
    this.closed = new Promise((resolve) => {
      socket.once("close", () => resolve());
    });
    this.loop = new ReadLoop({
      clock: services.clock,
      read: () => this.read(),
      failed: (error) => {
        services.log.error({ err: error }, "a listener could not be served");
        socket.close(1011, "internal_error");
      },
    });
  }

  /** Sends the opening frames and then events as they come. */
  start(opening: readonly PlatformFrame[]): void {
    this.socket.on("message", (data: Buffer, isBinary: boolean) => this.onMessage(data, isBinary));
    this.socket.on("pong", () => this.heard());
    this.socket.on("ping", () => this.heard());
    this.socket.on("error", (error) => {
      this.services.log.warn({ err: error }, "a listener's socket failed");
    });
    this.socket.on("close", () => this.stop());
    for (const frame of opening) this.socket.send(JSON.stringify(frame));
    this.stops.push(this.services.database.onWake("events", () => this.loop.ask()));
    this.stream.on("drain", () => {
      if (this.isHeldUp) this.loop.ask();
    });
    this.beat();
    this.loop.ask();
  }

  /** Says why, and closes; acknowledgements count until the client has closed its side, too. */
  close(code: number, reason: { code: string; message: string }): void {
    this.stop();
    this.socket.send(JSON.stringify({ frame: "bye", ...reason } satisfies PlatformFrame));
    this.socket.close(code, reason.code);
  }

  /** Closes without waiting for the client's side. */
  cut(): void {
    this.socket.terminate();
  }

  refuse({ code, message }: ApiError): void {
    this.close(1008, { code, message });
  }

  private stop(): void {
    this.loop.stop();
    for (const stop of this.stops.splice(0)) stop();
  }

  private heard(): void {
    this.heardAt = this.services.clock.elapsed();
  }

  private beat(): void {
    const cancel = this.services.clock.after(LIMITS.heartbeatSeconds * 1000, () => {
      this.stops.splice(this.stops.indexOf(cancel), 1);
      if (this.services.clock.elapsed() - this.heardAt >= LIMITS.silenceSeconds * 1000) {
        this.socket.terminate();
        return;
      }
      this.socket.ping();
      this.beat();
    });
    this.stops.push(cancel);
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    this.heard();
    try {
      if (isBinary) throw new FrameError("frames are text");
      const ack = parseClientFrame(data.toString("utf8"));
      if (ack.seq > this.sent) throw new FrameError(`ack of ${ack.seq}, but ${this.sent} events were sent`);
      const event = this.unacknowledged.get(ack.seq);
      if (event === undefined) return;
      this.unacknowledged.delete(ack.seq);
      this.recorder.add({ eventId: event.id, eventType: event.type, ack, at: this.services.clock.now() });
      this.loop.ask();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.close(1008, { code: "protocol_error", message: error.message });
    }
  }

  /** Reads on from the log as far as the window has room, and nothing while the client is slow: `drain` goes on. */
  private async read(): Promise<"end" | "more" | "held back"> {
    const { environment, types, window } = this.settings;
    const room = window - this.unacknowledged.size;
    // A quarter of a window of room, or a read would follow every acknowledgement.
    if (room <= 0 || (room < ROOM_WORTH_A_READ && room < window / 4 && this.unacknowledged.size > 0)) return "end";
    this.isHeldUp = this.isSlow;
    if (this.isHeldUp) return "end";
    const limit = Math.min(room, this.size.events);
    const { events, heldBack } = await readLog(this.services.database, environment, this.position, types, limit);
    this.size.learn(events);
    // A client that has said goodbye gets nothing more; what was read for it is sent when it comes again.
    if (this.socket.readyState !== this.socket.OPEN) return "end";
    this.send(events);
    this.isHeldUp = this.isSlow;
    if (this.isHeldUp) return "end";
    if (events.length === limit) return "more";
    return heldBack ? "held back" : "end";
  }

  private get isSlow(): boolean {
    return this.socket.bufferedAmount > BUFFERED_BYTES_MOST;
  }

  /** Sends as much as the client takes in time: the rest is read again. */
  private send(events: readonly LoggedEvent[]): void {
    this.stream.cork();
    for (const { place, id, type, body, isDamaged, replayId } of events) {
      if (this.isSlow) break;
      this.position = place;
      if (isDamaged) {
        this.reportDamage(id);
        continue;
      }
      this.sent += 1;
      this.unacknowledged.set(this.sent, { id, type });
      const cursor = replayId === undefined ? "" : `"cursor":"${replayId}",`;
      this.socket.send(
        `{"frame":"event","seq":${this.sent},"id":"${id}","type":"${type}",${cursor}"body":${JSON.stringify(body)}}`,
      );
    }
    this.stream.uncork();
  }

  /** The client learns which event it misses; the session goes on with the next one. */
  private reportDamage(id: string): void {
    this.services.log.error({ err: new DamagedEventError(id) }, "an event could not be sent to a listener");
    this.socket.send(JSON.stringify({ frame: "gap", from: id, to: id } satisfies PlatformFrame));
  }
}
