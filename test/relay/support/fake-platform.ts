import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { WebSocketServer, type WebSocket } from "ws";
import { createIdGenerator } from "../../../src/contract/ids.ts";
import { LIMITS } from "../../../src/contract/limits.ts";
import { parseClientFrame, type Ack, type PlatformFrame, type SentEvent } from "../../../src/contract/listen.ts";

/** The maximum total length of bodies in a frame with several events. */
const MAX_FRAME_LENGTH = 256 * 1024;

export const SESSION_SECRET = "whsec_of_the_session";

export interface LoggedEvent {
  id: string;
  type: string;
  body: string;
  /** For a replay: the ID that identifies its position. */
  cursor?: string;
}

export interface FakePlatformOptions {
  /** Handles an upgrade itself. Returns true if it did. */
  intercept?: (request: IncomingMessage, stream: Duplex) => boolean;
  /** Responds to pings; a half-open connection does not. */
  autoPong?: boolean;
  /** The most unacknowledged events (default: 64), whatever the client asks for. */
  window?: number;
}

/** Implements the platform's side of the protocol with a log in memory that tests can break in every way. */
export class FakePlatform {
  readonly log: LoggedEvent[] = [];
  /** Every received acknowledgement, in order. */
  readonly acknowledgements: { id: string; ack: Ack }[] = [];
  readonly acknowledgedIds = new Set<string>();
  readonly upgrades: IncomingMessage[] = [];
  readonly sessions: FakeSession[] = [];
  /** Sends another frame instead of ready at the start of a session. */
  opening: ((session: FakeSession) => void) | undefined;
  /** The time of new events, in Unix milliseconds. */
  time = Date.now();
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #options: FakePlatformOptions;
  readonly #nextId = createIdGenerator((size) => new Uint8Array(size));
  #waiters: { isMet: () => boolean; resolve: () => void }[] = [];

  private constructor(options: FakePlatformOptions) {
    this.#options = options;
    this.#server = createServer((_request, response) => response.writeHead(426).end());
    this.#sockets = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      autoPong: options.autoPong ?? true,
    });
    this.#server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      stream.on("error", () => stream.destroy());
      this.upgrades.push(request);
      if (options.intercept?.(request, stream) !== true) {
        this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#accept(socket, request));
      }
      this.changed();
    });
  }

  /** Starts on a free port, and closes when the test ends. */
  static async start(options: FakePlatformOptions = {}): Promise<FakePlatform> {
    const platform = new FakePlatform(options);
    await new Promise<void>((resolve) => platform.#server.listen(0, "127.0.0.1", resolve));
    const streams = new Set<Duplex>();
    platform.#server.on("connection", (stream: Duplex) => streams.add(stream));
    onTestFinished(async () => {
      for (const stream of streams) stream.destroy();
      await new Promise((resolve) => platform.#server.close(resolve));
    });
    return platform;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  /** The latest session. */
  get session(): FakeSession {
    return this.sessions.at(-1)!;
  }

  /** Commits an event and sends it to all listeners. */
  append(type = "order.completed", body?: string): LoggedEvent {
    const id = this.#nextId("event", this.time);
    const event = { id, type, body: body ?? JSON.stringify({ id, type, object: "event" }) };
    return this.#append(event);
  }

  /** Commits an event again, at the end of the log. */
  replay(event: LoggedEvent): LoggedEvent {
    return this.#append({ ...event, cursor: this.#nextId("event", this.time) });
  }

  acknowledged(id: string): Ack[] {
    return this.acknowledgements.filter((known) => known.id === id).map(({ ack }) => ack);
  }

  /** Cuts all connections without a close frame. */
  cut(): void {
    for (const session of this.sessions) session.socket.terminate();
  }

  /** Starts the log again, and tells the listeners. */
  reset(): void {
    this.log.length = 0;
    for (const session of this.sessions) session.reset();
  }

  /** Waits for a condition on the platform's state. */
  async until(isMet: () => boolean): Promise<void> {
    if (!isMet()) await new Promise<void>((resolve) => this.#waiters.push({ isMet, resolve }));
  }

  /** Wakes all waits for a condition. */
  changed(): void {
    const met = this.#waiters.filter(({ isMet }) => isMet());
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter));
    for (const { resolve } of met) resolve();
  }

  #accept(socket: WebSocket, request: IncomingMessage): void {
    const query = new URL(request.url!, "http://platform").searchParams;
    const after = query.get("after") ?? "now";
    const position = this.#positionBehind(after);
    const session = new FakeSession(this, socket, position, this.#options.window ?? LIMITS.listenWindowDefault);
    this.sessions.push(session);
    if (this.opening !== undefined) return this.opening(session);
    session.send({
      frame: "ready",
      session: this.#nextId("listener", this.time),
      secret: SESSION_SECRET,
      cursor: this.#cursorOf(position) ?? this.#nextId("event", this.time),
      account: "acct_1",
      environment: "sandbox",
      subscriptions: ["*"],
      others: 0,
    });
    session.pump();
  }

  #cursorOf(position: number): string | undefined {
    const event = this.log[position - 1];
    return event?.cursor ?? event?.id;
  }

  #append(event: LoggedEvent): LoggedEvent {
    this.log.push(event);
    for (const session of this.sessions) session.pump();
    return event;
  }

  #positionBehind(after: string): number {
    if (after.startsWith("-")) return 0;
    const next = after === "now" ? -1 : this.log.findIndex(({ id, cursor = id }) => cursor > after);
    return next === -1 ? this.log.length : next;
  }
}

/** One client connection. */
export class FakeSession {
  readonly socket: WebSocket;
  readonly protocol: string;
  readonly unacknowledged = new Map<number, string>();
  /** The maximum number of unacknowledged events so far. */
  peak = 0;
  /** The payloads of the client's pings. */
  readonly pings: string[] = [];
  closeCode: number | undefined;
  #platform: FakePlatform;
  #position: number;
  #window: number;
  #sequence = 0;
  #acknowledged = 0;

  constructor(platform: FakePlatform, socket: WebSocket, position: number, window: number) {
    this.socket = socket;
    this.protocol = socket.protocol;
    this.#platform = platform;
    this.#position = position;
    this.#window = window;
    socket.on("error", () => socket.terminate());
    socket.on("ping", (data) => {
      this.pings.push(data.toString("latin1"));
      platform.changed();
    });
    socket.on("close", (code) => {
      this.closeCode = code;
      platform.changed();
    });
    socket.on("message", (data: Buffer) => {
      const frame = parseClientFrame(data.toString("utf8"));
      if (frame.frame === "acks") for (const ack of frame.acks) this.#acknowledge(ack);
    });
  }

  /** Resolves once the client has read everything sent before, and its responses have arrived. */
  async roundTrip(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.socket.once("pong", () => resolve());
      this.socket.ping();
    });
  }

  /** Resolves once the client knows that all its acknowledgements on this connection were read. */
  async confirmed(): Promise<void> {
    await this.#platform.until(() => this.pings.at(-1) === String(this.#acknowledged));
    await this.roundTrip();
  }

  send(frame: PlatformFrame): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** Sends an event outside the log's order. */
  sendEvent(event: LoggedEvent): void {
    this.send({ frame: "events", events: [this.#numbered(event)] });
  }

  reset(): void {
    this.#position = 0;
    this.send({ frame: "reset", cursor: "evt_0" });
  }

  pump(): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    while (this.unacknowledged.size < this.#window && this.#position < this.#platform.log.length) {
      const room = Math.min(this.#window - this.unacknowledged.size, LIMITS.eventsPerFrame);
      const events: SentEvent[] = [];
      let length = 0;
      for (const event of this.#platform.log.slice(this.#position, this.#position + room)) {
        const sent = this.#numbered(event);
        events.push(sent);
        length += sent.body.length;
        if (length > MAX_FRAME_LENGTH) break;
      }
      this.#position += events.length;
      this.send({ frame: "events", events });
    }
  }

  #numbered(event: LoggedEvent): SentEvent {
    this.#sequence += 1;
    this.unacknowledged.set(this.#sequence, event.id);
    this.peak = Math.max(this.peak, this.unacknowledged.size);
    return { seq: this.#sequence, ...event };
  }

  #acknowledge(ack: Ack): void {
    const id = this.unacknowledged.get(ack.seq);
    if (id === undefined) throw new Error(`acknowledgement of ${ack.seq}, which awaits none`);
    this.unacknowledged.delete(ack.seq);
    this.#acknowledged += 1;
    this.#platform.acknowledgements.push({ id, ack });
    this.#platform.acknowledgedIds.add(id);
    this.pump();
    this.#platform.changed();
  }
}
