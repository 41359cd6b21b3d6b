import type { Agent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocket, type RawData } from "ws";
import { LIMITS } from "../contract/limits.ts";
import {
  FrameError,
  LISTEN_SUBPROTOCOL,
  parsePlatformFrame,
  type Ack,
  type ByeFrame,
  type ClientFrame,
  type GapFrame,
  type PlatformFrame,
  type ReadyFrame,
  type SentEvent,
} from "../contract/listen.ts";
import { connectOptions } from "../network/connect-options.ts";
import type { Clock } from "../network/clock.ts";
import { describeSocketClose, describeSocketError, readUpgradeRejection, type SocketEnd } from "./disconnection.ts";

/** Time limit from the first packet to the ready frame. */
const OPEN_MS = 10_000;
const PING_MS = LIMITS.heartbeatSeconds * 1000;
const SILENCE_MS = LIMITS.silenceSeconds * 1000;
/** A ping asks whether acknowledgements were read: after this time, or this many of them. */
const CONFIRM_MS = 50;
const MAX_UNCONFIRMED = 64;
/** Acknowledgements that fall due within this time share a frame, unless it is full before. */
const GATHER_MS = 2;
const MAX_ACKS = 32;
/** Characters of a frame of acknowledgements: a quarter of what the platform accepts in UTF-8 bytes. */
const MAX_ACKS_LENGTH = 64 * 1024;
const NORMAL_CLOSURE = 1000;
/** Time limit of the closing handshake. */
const CLOSE_MS = 2_000;
/** Enough for a body of the maximum size with every character escaped. */
const MAX_FRAME_BYTES = 8 * LIMITS.bodyBytes;

export interface PlatformSocketObserver {
  ready(frame: ReadyFrame): void;
  event(event: SentEvent): void;
  /** This many more events were excluded by the subscriptions. */
  filteredOut(count: number): void;
  gap(frame: GapFrame): void;
  reset(): void;
  /** This many others listen to the same environment now. */
  listeners(others: number): void;
  /** The platform has read this many of the acknowledgements sent on this socket. */
  confirmed(acknowledgements: number): void;
  /** Called once, last. */
  ended(end: SocketEnd): void;
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
  #lastReceivedAt = 0;
  #cancelPing: (() => void) | undefined;
  #cancelSilence: (() => void) | undefined;
  #cancelClosing: (() => void) | undefined;
  #state: "opening" | "open" | "closing" | "ended" = "opening";
  #bye: ByeFrame | undefined;
  #pending: string[] = [];
  #pendingLength = 0;
  #sent = 0;
  #confirmed = 0;
  #isPinging = false;
  #cancelFlush: (() => void) | undefined;
  #cancelConfirm: (() => void) | undefined;

  constructor({ url, headers, agent, clock, observer }: PlatformSocketOptions) {
    this.#clock = clock;
    this.#observer = observer;
    this.#socket = new WebSocket(url, LISTEN_SUBPROTOCOL, {
      headers,
      agent,
      ...connectOptions(url.hostname, OPEN_MS),
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
    });
    this.#cancelOpening = clock.after(OPEN_MS, () =>
      this.#end({ reason: { code: "timeout", message: `the platform was not ready within ${OPEN_MS / 1000} s` } }),
    );
    this.#socket.on("upgrade", (response: IncomingMessage) => {
      this.#tcp = response.socket;
    });
    this.#socket.on("unexpected-response", (_request, response) => {
      void readUpgradeRejection(response).then((rejection) =>
        this.#end({ reason: { code: "http_status", message: rejection.message }, rejection }),
      );
    });
    this.#socket.on("open", () => this.#opened());
    this.#socket.on("message", (data, isBinary) => this.#received(data, isBinary));
    this.#socket.on("pong", (data) => this.#ponged(data));
    this.#socket.on("error", (error) => this.#end({ reason: describeSocketError(error, url) }));
    this.#socket.on("close", (code, text) => this.#closed(code, text.toString("utf8")));
  }

  /** Sends an acknowledgement within 2 ms, in a frame with others that fall due meanwhile. */
  acknowledge(ack: Ack): void {
    if (this.#state !== "open") return;
    const text = JSON.stringify(ack);
    if (this.#pending.length > 0 && this.#pendingLength + text.length > MAX_ACKS_LENGTH) this.#flush();
    this.#pendingLength += text.length;
    const waiting = this.#pending.push(text);
    if (waiting === MAX_ACKS) this.#flush();
    else if (waiting === 1) this.#cancelFlush = this.#clock.after(GATHER_MS, () => this.#flush());
  }

  send(frame: ClientFrame): void {
    if (this.#state === "open") this.#socket.send(JSON.stringify(frame));
  }

  /** Sends what is pending and closes the connection, within 2 s. */
  close(): void {
    if (this.#state === "opening")
      return this.#end({ reason: { code: "closed", message: "closed before it was open" } });
    if (this.#state !== "open") return;
    this.#flush();
    this.#state = "closing";
    this.#socket.close(NORMAL_CLOSURE);
    this.#cancelClosing = this.#clock.after(CLOSE_MS, () => this.#closed(1006, ""));
  }

  /** Ends the socket because the platform violated the protocol. */
  violated(message: string): void {
    this.#socket.close(1002, message.slice(0, 100));
    this.#end({ reason: { code: "protocol", message: `the platform violated the protocol: ${message}` } });
  }

  #opened(): void {
    this.#lastReceivedAt = this.#clock.elapsed();
    // Any bytes count, not only whole frames: a large event on a slow line shows that the platform is alive.
    this.#tcp?.on("data", () => (this.#lastReceivedAt = this.#clock.elapsed()));
    this.#schedulePing();
    this.#cancelSilence = this.#clock.after(SILENCE_MS, () => this.#checkSilence());
  }

  #schedulePing(): void {
    this.#cancelPing = this.#clock.after(PING_MS, () => {
      this.#schedulePing();
      this.#ping();
    });
  }

  #checkSilence(): void {
    const remaining = this.#lastReceivedAt + SILENCE_MS - this.#clock.elapsed();
    if (remaining > 0) {
      this.#cancelSilence = this.#clock.after(Math.ceil(remaining), () => this.#checkSilence());
      return;
    }
    const message = `received nothing from the platform for ${LIMITS.silenceSeconds} s`;
    this.#end({ reason: { code: "silent", message } });
  }

  #received(data: RawData, isBinary: boolean): void {
    if (this.#state !== "opening" && this.#state !== "open") return;
    if (isBinary) return this.violated("a binary frame");
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
      return this.violated(frame.frame === "ready" ? "a second ready frame" : `a ${frame.frame} frame before ready`);
    }
    if (frame.frame === "events") {
      if (frame.filtered_out !== undefined) this.#observer.filteredOut(frame.filtered_out);
      for (const event of frame.events) {
        // An event may break the protocol, or end the run.
        if (this.#state !== "open") return;
        this.#observer.event(event);
      }
      return;
    }
    if (frame.frame === "gap") return this.#observer.gap(frame);
    if (frame.frame === "reset") return this.#observer.reset();
    if (frame.frame === "listeners") return this.#observer.listeners(frame.others);
    this.#state = "open";
    this.#cancelOpening();
    this.#observer.ready(frame);
  }

  #flush(): void {
    if (this.#state !== "open" || this.#pending.length === 0) return;
    this.#cancelFlush?.();
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingLength = 0;
    // The ping that asks whether they were read shares their packet.
    this.#tcp?.cork();
    this.#socket.send(`{"frame":"acks","acks":[${pending.join()}]}`);
    this.#sent += pending.length;
    this.#confirmSoon();
    this.#tcp?.uncork();
  }

  /**
   * Asks which acknowledgements were read. One ping serves many, since a round trip costs as much as an event; the first
   * is sent at once, so that even connections that never last make progress.
   */
  #confirmSoon(): void {
    if (this.#isPinging) return;
    if (this.#confirmed === 0 || this.#sent - this.#confirmed >= MAX_UNCONFIRMED) return this.#ping();
    this.#cancelConfirm ??= this.#clock.after(CONFIRM_MS, () => this.#ping());
  }

  /** Frames are read in order, so a pong shows that everything sent before its ping was read. */
  #ping(): void {
    this.#cancelConfirm?.();
    this.#cancelConfirm = undefined;
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#isPinging = true;
    this.#socket.ping(String(this.#sent));
  }

  #ponged(data: Buffer): void {
    const count = Number(data.toString("latin1"));
    if (!Number.isSafeInteger(count) || count > this.#sent || this.#state !== "open") return;
    this.#isPinging = false;
    if (count > this.#confirmed) this.#observer.confirmed((this.#confirmed = count));
    if (this.#sent > this.#confirmed) this.#confirmSoon();
  }

  #closed(code: number, text: string): void {
    const bye = this.#bye;
    // A close frame is answered in order too: everything sent before it was read.
    if (this.#state === "closing" && code === NORMAL_CLOSURE && bye === undefined) this.#observer.confirmed(this.#sent);
    if (bye === undefined) return this.#end({ reason: describeSocketClose(code, text) });
    // What the platform asks for happens anyway.
    const [, said] = /^The (.+); reconnect to resume\.?$/.exec(bye.message) ?? [];
    const message = said === undefined ? `the platform ended the session: ${bye.message}` : `the ${said}`;
    this.#end({ reason: { code: "bye", message }, bye });
  }

  #end(end: SocketEnd): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#cancelOpening();
    this.#cancelClosing?.();
    this.#cancelFlush?.();
    this.#cancelConfirm?.();
    this.#cancelPing?.();
    this.#cancelSilence?.();
    this.#pending = [];
    this.#socket.terminate();
    this.#observer.ended(end);
  }
}
