import type { Agent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocket, type RawData } from "ws";
import { LIMITS } from "../contract/limits.ts";
import {
  FrameError,
  LISTEN_SUBPROTOCOL,
  parsePlatformFrame,
  type AckFrame,
  type ByeFrame,
  type EventFrame,
  type GapFrame,
  type PlatformFrame,
  type ReadyFrame,
} from "../contract/listen.ts";
import { connectOptions } from "../network/connect-options.ts";
import { describeSocketClose, describeSocketError, type Disconnection } from "./disconnection.ts";
import { Heartbeat } from "./heartbeat.ts";
import type { Clock } from "./ports.ts";
import { readUpgradeRefusal, type UpgradeRefusal } from "./upgrade-refusal.ts";

/** From the first packet to the ready frame. */
const OPEN_MS = 10_000;
/** How long, or how many, acknowledgements wait for the question whether they were read. */
const CONFIRM_MS = 50;
const CONFIRM_MOST = 64;
/** Acknowledgements that fall due within this time, or so many, share a write. */
const GATHER_MS = 2;
const GATHER_MOST = 32;
/** The close code of an end that was asked for. */
const GOODBYE = 1000;
/** For the closing handshake. */
const CLOSE_MS = 2_000;
/** A body of the largest size, with every character escaped, and its envelope fit in. */
const FRAME_BYTES = 8 * LIMITS.bodyBytes;

export interface PlatformSocketObserver {
  ready(frame: ReadyFrame): void;
  event(frame: EventFrame): void;
  gap(frame: GapFrame): void;
  /** The platform has read that many of the acknowledgements sent on this socket. */
  confirmed(acknowledgements: number): void;
  /** Called once, as the last. */
  ended(end: SocketEnd): void;
}

export interface SocketEnd {
  reason: Disconnection;
  refusal?: UpgradeRefusal;
  bye?: ByeFrame;
}

export interface PlatformSocketOptions {
  url: URL;
  headers: Record<string, string>;
  agent: Agent | undefined;
  clock: Clock;
  observer: PlatformSocketObserver;
}

/** One WebSocket to the platform, from the upgrade to its end. */
export class PlatformSocket {
  readonly #socket: WebSocket;
  readonly #observer: PlatformSocketObserver;
  readonly #clock: Clock;
  readonly #cancelOpening: () => void;
  #tcp: Socket | undefined;
  #heartbeat: Heartbeat | undefined;
  #cancelClosing: (() => void) | undefined;
  #state: "opening" | "open" | "closing" | "ended" = "opening";
  #bye: ByeFrame | undefined;
  #pending: string[] = [];
  #sent = 0;
  #confirmed = 0;
  #asked = false;
  #cancelFlush: (() => void) | undefined;
  #cancelAsking: (() => void) | undefined;

  constructor({ url, headers, agent, clock, observer }: PlatformSocketOptions) {
    this.#clock = clock;
    this.#observer = observer;
    this.#socket = new WebSocket(url, LISTEN_SUBPROTOCOL, {
      headers,
      agent,
      ...connectOptions(url.hostname, OPEN_MS),
      perMessageDeflate: false,
      maxPayload: FRAME_BYTES,
    });
    this.#cancelOpening = clock.after(OPEN_MS, () =>
      this.#end({ reason: { code: "timeout", message: `the platform was not ready within ${OPEN_MS / 1000} s` } }),
    );
    this.#socket.on("upgrade", (reply: IncomingMessage) => {
      this.#tcp = reply.socket;
    });
    this.#socket.on("unexpected-response", (_request, reply) => {
      readUpgradeRefusal(reply, (refusal) =>
        this.#end({ reason: { code: "http_status", message: refusal.message }, refusal }),
      );
    });
    this.#socket.on("open", () => this.#opened());
    this.#socket.on("message", (data, isBinary) => this.#received(data, isBinary));
    this.#socket.on("pong", (data) => this.#answered(data));
    this.#socket.on("error", (error) => this.#end({ reason: describeSocketError(error, url) }));
    this.#socket.on("close", (code, text) => this.#closed(code, text.toString("utf8")));
  }

  /** Sends an acknowledgement, together with all others of this turn. */
  acknowledge(frame: AckFrame): void {
    if (this.#state !== "open") return;
    const waiting = this.#pending.push(JSON.stringify(frame));
    if (waiting === GATHER_MOST) this.#flush();
    else if (waiting === 1) this.#cancelFlush = this.#clock.after(GATHER_MS, () => this.#flush());
  }

  /** Sends what is pending, says goodbye and waits for the answer, at most 2 s. */
  close(): void {
    if (this.#state === "opening")
      return this.#end({ reason: { code: "closed", message: "closed before it was open" } });
    if (this.#state !== "open") return;
    this.#flush();
    this.#state = "closing";
    this.#socket.close(GOODBYE);
    this.#cancelClosing = this.#clock.after(CLOSE_MS, () => this.#closed(1006, ""));
  }

  /** Ends the socket because the platform broke the protocol. */
  violated(message: string): void {
    this.#socket.close(1002, message.slice(0, 100));
    this.#end({ reason: { code: "protocol", message: `the platform broke the protocol: ${message}` } });
  }

  #opened(): void {
    this.#heartbeat = new Heartbeat({
      clock: this.#clock,
      ping: () => this.#ping(),
      silent: () =>
        this.#end({
          reason: { code: "silent", message: `nothing was heard from the platform for ${LIMITS.silenceSeconds} s` },
        }),
    });
    // Chunks, not frames: a large event on a slow line is a sign of life too.
    this.#tcp?.on("data", () => this.#heartbeat?.heard());
  }

  #received(data: RawData, isBinary: boolean): void {
    if (this.#state !== "opening" && this.#state !== "open") return;
    if (isBinary) return this.violated("a frame is binary");
    let frame: PlatformFrame;
    try {
      frame = parsePlatformFrame((data as Buffer).toString("utf8"));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      return this.violated(error.message);
    }
    this.#dispatch(frame);
  }

  #dispatch(frame: PlatformFrame): void {
    if (frame.frame === "bye") {
      this.#bye = frame;
      if (this.#state === "opening") this.#closed(1000, "");
      return this.close();
    }
    if ((frame.frame === "ready") !== (this.#state === "opening")) {
      return this.violated(frame.frame === "ready" ? "ready came twice" : `${frame.frame} came before ready`);
    }
    if (frame.frame === "event") return this.#observer.event(frame);
    if (frame.frame === "gap") return this.#observer.gap(frame);
    if (frame.secret.trim() === "") return this.violated("ready holds no secret");
    this.#state = "open";
    this.#cancelOpening();
    this.#observer.ready(frame);
  }

  #flush(): void {
    if (this.#state !== "open" || this.#pending.length === 0) return;
    this.#cancelFlush?.();
    const pending = this.#pending;
    this.#pending = [];
    this.#tcp?.cork();
    for (const text of pending) this.#socket.send(text);
    this.#sent += pending.length;
    this.#tcp?.uncork();
    this.#ask();
  }

  /**
   * Asks which acknowledgements were read. One question serves many, since a round trip costs as much as an event; the
   * first is asked at once, so that even connections that never last make progress.
   */
  #ask(): void {
    if (this.#asked) return;
    if (this.#confirmed === 0 || this.#sent - this.#confirmed >= CONFIRM_MOST) return this.#ping();
    this.#cancelAsking ??= this.#clock.after(CONFIRM_MS, () => this.#ping());
  }

  /** The peer answers a ping in its turn, so the answer tells that everything sent before it was read. */
  #ping(): void {
    this.#cancelAsking?.();
    this.#cancelAsking = undefined;
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#asked = true;
    this.#socket.ping(String(this.#sent));
  }

  #answered(data: Buffer): void {
    const count = Number(data.toString("latin1"));
    if (!Number.isSafeInteger(count) || count > this.#sent || this.#state !== "open") return;
    this.#asked = false;
    if (count > this.#confirmed) this.#observer.confirmed((this.#confirmed = count));
    if (this.#sent > this.#confirmed) this.#ask();
  }

  #closed(code: number, text: string): void {
    const bye = this.#bye;
    // The peer answers a goodbye in its turn too.
    if (this.#state === "closing" && code === GOODBYE && bye === undefined) this.#observer.confirmed(this.#sent);
    if (bye === undefined) return this.#end({ reason: describeSocketClose(code, text) });
    this.#end({ reason: { code: "bye", message: `the platform ended the session: ${bye.message}` }, bye });
  }

  #end(end: SocketEnd): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#cancelOpening();
    this.#cancelClosing?.();
    this.#cancelFlush?.();
    this.#cancelAsking?.();
    this.#heartbeat?.stop();
    this.#pending = [];
    this.#socket.terminate();
    this.#observer.ended(end);
  }
}
