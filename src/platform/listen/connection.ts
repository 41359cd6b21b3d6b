import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { LIMITS } from "../../contract/limits.ts";
import {
  type Ack,
  FrameError,
  type GapReason,
  type TargetsFrame,
  parseClientFrame,
  type PlatformFrame,
  type Resend,
  type Retry,
  urlFor,
} from "../../contract/listen.ts";
import type { ApiError } from "../domain/api-error.ts";
import { type Reader, recordUnread } from "../http/unread.ts";
import type { Addressee, LoggedEvent } from "../storage/event-log.ts";
import type { AckRecorder } from "./acknowledgements.ts";
import type { Listener, Watched } from "./listeners.ts";
import { type LogClient, LogReader, type LogTools, MAX_BUFFERED_BYTES, type Reading } from "./log-reader.ts";
import { type FailedAttempts, type Undelivered, withRetry } from "./undelivered.ts";

/** Maximum characters of a frame with several events: a client has to buffer all of it to read its first event. */
const MAX_FRAME_LENGTH = 256 * 1024;
/** A client that has not said by then where it forwards only prints. */
const TARGETS_MILLISECONDS = 5000;

interface UnacknowledgedEvent {
  id: string;
  type: string;
  /** Its ID in the log, and when it was sent. */
  sent: { id: string; at: number };
  bytes: number;
  /** True if the sandbox was reset since: its outcome is recorded nowhere. */
  isGone: boolean;
  failed?: FailedAttempts;
}

export interface ConnectionSettings extends Reading {
  /** The maximum number of unacknowledged events. */
  window: number;
  listener: Listener;
  /** Called once the client has said where it forwards. */
  setTargets: (frame: TargetsFrame) => void;
}

/** One listening client. It gets as many events of the log as its window has room for, and acknowledges each. */
export class ListenerConnection implements LogClient, Watched, Reader {
  readonly #tools: LogTools;
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #recorder: AckRecorder;
  readonly #listener: Listener;
  readonly #setTargets: ConnectionSettings["setTargets"];
  /** True once the client has said where it forwards, or has had the time to. */
  #hasTargets = false;
  #cancelTargets: () => void = () => {};
  readonly #unacknowledged = new Map<number, UnacknowledgedEvent>();
  readonly #window: Window;
  readonly #reader: LogReader;
  /** True if there may be more to read once the client has received what was sent. */
  #isHeldUp = false;
  #sent = 0;
  #lastReceivedAt: number;
  #cancelBeat: () => void = () => {};
  /** Resolves once either side has closed the socket, with the code of its close frame. */
  readonly closed: Promise<number>;

  constructor(tools: LogTools, socket: WebSocket, stream: Duplex, settings: ConnectionSettings, recorder: AckRecorder) {
    this.#tools = tools;
    this.#socket = socket;
    this.#stream = stream;
    this.#recorder = recorder;
    this.#listener = settings.listener;
    this.#setTargets = settings.setTargets;
    this.#lastReceivedAt = tools.clock.elapsed();
    this.#window = new Window(settings.window, () => tools.clock.elapsed());
    this.closed = new Promise((resolve) => {
      socket.once("close", resolve);
    });
    this.#reader = new LogReader(tools, settings, this);
  }

  /** Sends the first frame, then events as they are committed. */
  start(ready: PlatformFrame): void {
    this.#socket.on("message", (data: Buffer, isBinary: boolean) => this.#onMessage(data, isBinary));
    this.#socket.on("pong", () => this.#recordContact());
    this.#socket.on("ping", () => this.#recordContact());
    this.#socket.on("error", (error) => {
      this.#tools.log.warn({ err: error }, "a listener's socket failed");
    });
    this.#socket.on("close", () => {
      this.#stop();
      for (const { id, type, sent, isGone, failed } of this.#unacknowledged.values()) {
        if (!isGone) this.#recorder.addDisconnected({ eventId: id, eventType: type, sent }, failed);
      }
    });
    this.#socket.send(JSON.stringify(ready));
    this.#stream.on("drain", () => {
      recordUnread(this, 0);
      if (this.#isHeldUp) this.#reader.ask();
    });
    this.#beat();
    this.#cancelTargets = this.#tools.clock.after(TARGETS_MILLISECONDS, () => this.#settleTargets());
    this.#reader.start();
  }

  /** Sends the reason, and closes. Acknowledgements count until the client has closed its side, too. */
  close(code: number, reason: { code: string; message: string }): void {
    this.#stop();
    this.#socket.send(JSON.stringify({ frame: "bye", ...reason } satisfies PlatformFrame));
    this.#socket.close(code, reason.code);
  }

  /** Returns what the client does with the events that it has not acknowledged. */
  forwarding(): Undelivered[] {
    const { listenerId: listener } = this.#recorder;
    return [...this.#unacknowledged.values()].flatMap(({ id, isGone, failed }) =>
      isGone ? [] : [{ event: id, listener, result: "forwarding", failed }],
    );
  }

  /** Returns true for an event that the client has not acknowledged. */
  has(eventId: string): boolean {
    return [...this.#unacknowledged.values()].some(({ id }) => id === eventId);
  }

  /** Sends the current number of other listeners in the environment. */
  tellOthers(others: number): void {
    this.#sendIfOpen({ frame: "listeners", others });
  }

  /** Closes without waiting for the client's side. */
  cut(): void {
    this.#socket.terminate();
  }

  reject({ code, message }: ApiError): void {
    this.close(1008, { code, message });
  }

  #stop(): void {
    this.#reader.stop();
    this.#cancelBeat();
    this.#cancelTargets();
    recordUnread(this, 0);
  }

  #settleTargets(): void {
    this.#hasTargets = true;
    this.#cancelTargets();
    this.#reader.ask();
  }

  #recordContact(): void {
    this.#lastReceivedAt = this.#tools.clock.elapsed();
  }

  #beat(): void {
    this.#cancelBeat = this.#tools.clock.after(LIMITS.heartbeatSeconds * 1000, () => {
      if (this.#tools.clock.elapsed() - this.#lastReceivedAt >= LIMITS.silenceSeconds * 1000) return this.cut();
      this.#socket.ping();
      this.#beat();
    });
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    this.#recordContact();
    try {
      if (isBinary) throw new FrameError("frames are text");
      const frame = parseClientFrame(data.toString("utf8"));
      if (frame.frame === "targets") {
        this.#setTargets(frame);
        return this.#settleTargets();
      }
      if (frame.frame === "resends") return this.#addResends(frame.resends);
      const items = frame.frame === "acks" ? frame.acks : frame.retries;
      const last = items.reduce((highest, { seq }) => Math.max(highest, seq), 0);
      if (last > this.#sent) throw new FrameError(`ack of ${last}, but ${this.#sent} events were sent`);
      if (frame.frame === "retries") return this.#addRetries(frame.retries);
      for (const ack of frame.acks) this.#acknowledge(ack);
      this.#reader.ask();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.close(1008, { code: "protocol_error", message: error.message });
    }
  }

  #addRetries(retries: readonly Retry[]): void {
    for (const retry of retries) {
      const event = this.#unacknowledged.get(retry.seq);
      if (event !== undefined) event.failed = withRetry(event.failed, retry, this.#tools.clock.now());
    }
  }

  #addResends(resends: readonly Resend[]): void {
    for (const { id, type, ...attempt } of resends) {
      const at = this.#tools.clock.now();
      this.#recorder.addResend({ eventId: id, eventType: type, ack: attempt, at });
    }
  }

  #acknowledge(ack: Ack): void {
    const event = this.#unacknowledged.get(ack.seq);
    if (event === undefined) return;
    this.#unacknowledged.delete(ack.seq);
    this.#window.acknowledged(ack.seq, event.bytes, ack.duration_ms);
    if (event.isGone) return;
    const { id, type, sent } = event;
    this.#recorder.add({ eventId: id, eventType: type, ack, sent, at: this.#tools.clock.now() });
  }

  /** None while the client is slow: `drain` continues. */
  available(): number {
    const { room } = this.#window;
    if (room <= 0) return 0;
    this.#isHeldUp = this.#isSlow;
    return this.#isHeldUp ? 0 : room;
  }

  isFor({ listener, target }: Addressee, type: string): boolean | undefined {
    if (listener !== this.#listener.id) return false;
    if (!this.#hasTargets && target !== null) return undefined;
    return (urlFor(this.#listener.targets, type) ?? null) === target;
  }

  /** Sends as many as the client accepts in time. */
  send(events: readonly LoggedEvent[]): number {
    // A client that is closing gets nothing more; it receives the rest when it reconnects.
    if (this.#socket.readyState !== this.#socket.OPEN) return 0;
    const before = this.#sent;
    this.#stream.cork();
    while (this.#sent - before < events.length && !(this.#isHeldUp = this.#isSlow)) {
      this.#sendFrame(events, this.#sent - before);
    }
    this.#stream.uncork();
    recordUnread(this, this.#stream.writableNeedDrain ? this.#socket.bufferedAmount : 0);
    return this.#sent - before;
  }

  /** Sends the events from an index on that fit into one frame: at least one. */
  #sendFrame(events: readonly LoggedEvent[], index: number): void {
    const items: string[] = [];
    let length = 0;
    const at = this.#tools.clock.now();
    for (const { id, type, body, replayId } of events.slice(index, index + LIMITS.eventsPerFrame)) {
      const cursor = replayId === undefined ? "" : `"cursor":"${replayId}",`;
      const item = `{"seq":${this.#sent + 1},"id":"${id}","type":"${type}",${cursor}"body":${JSON.stringify(body)}}`;
      length += item.length;
      if (items.length > 0 && length > MAX_FRAME_LENGTH) break;
      items.push(item);
      this.#sent += 1;
      const sent = { id: replayId ?? id, at };
      this.#unacknowledged.set(this.#sent, { id, type, sent, bytes: item.length, isGone: false });
      this.#window.sent(this.#sent, item.length);
    }
    this.#socket.send(`{"frame":"events","events":[${items.join()}]}`);
  }

  filteredOut(count: number): void {
    this.#sendIfOpen({ frame: "events", events: [], filtered_out: count });
  }

  gap(from: string, to: string, reason?: GapReason): void {
    this.#sendIfOpen({ frame: "gap", from, to, ...(reason === undefined ? {} : { reason }) });
  }

  reset(cursor: string): void {
    this.#recorder.forget();
    for (const event of this.#unacknowledged.values()) event.isGone = true;
    this.#sendIfOpen({ frame: "reset", cursor });
  }

  #sendIfOpen(frame: PlatformFrame): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  failed(error: unknown): void {
    this.#tools.log.error({ err: error }, "a listener could not be served");
    this.#socket.close(1011, "internal_error");
  }

  get #isSlow(): boolean {
    return this.#socket.bufferedAmount > MAX_BUFFERED_BYTES;
  }
}

/** More bytes than this are sent only once some are acknowledged: the client keeps what it has not forwarded yet. */
const MAX_WINDOW_BYTES = 8 * 1024 * 1024;

/**
 * How many events a client may have unacknowledged. It follows the measured round trip: those that travel, those that
 * are being forwarded, and some that wait at the client, so that it never waits for the platform.
 */
export class Window {
  readonly #max: number;
  readonly #now: () => number;
  #size: number;
  #bytes = 0;
  #events = 0;
  /** The first event sent after the last measurement. */
  #first: { seq: number; sentAt: number } | undefined;
  /** Acknowledged since that event was sent: how many, and how many milliseconds their forwards took together. */
  #acknowledged = 0;
  #forwarding = 0;
  /** The shortest round trip without the forward. */
  #leastTravel = Infinity;

  /** With the maximum that the client asks for, and a monotonic clock in milliseconds. */
  constructor(max: number, now: () => number) {
    this.#max = max;
    this.#now = now;
    this.#size = Math.min(LIMITS.minListenWindow, max);
  }

  /** How many more events may be sent. Zero, too, as long as there is only room for a small part of the window. */
  get room(): number {
    if (this.#bytes >= MAX_WINDOW_BYTES) return 0;
    const room = this.#size - this.#events;
    // Otherwise a read would follow every acknowledgement.
    return this.#events > 0 && room < Math.min(LIMITS.minListenWindow / 2, this.#size / 4) ? 0 : room;
  }

  sent(seq: number, bytes: number): void {
    this.#events += 1;
    this.#bytes += bytes;
    if (this.#first === undefined) {
      this.#first = { seq, sentAt: this.#now() };
      this.#acknowledged = 0;
      this.#forwarding = 0;
    }
  }

  /** Records that an event was acknowledged, and how long its forward took. */
  acknowledged(seq: number, bytes: number, milliseconds: number): void {
    this.#events -= 1;
    this.#bytes -= bytes;
    this.#acknowledged += 1;
    this.#forwarding += milliseconds;
    if (this.#first !== undefined && seq >= this.#first.seq)
      this.#measure(this.#now() - this.#first.sentAt, milliseconds);
  }

  #measure(roundTrip: number, forward: number): void {
    this.#leastTravel = Math.min(this.#leastTravel, Math.max(0, roundTrip - forward));
    const needed = (this.#acknowledged * this.#leastTravel + this.#forwarding) / Math.max(1, roundTrip);
    this.#size = Math.min(this.#max, LIMITS.minListenWindow + Math.ceil(needed));
    this.#first = undefined;
  }
}
