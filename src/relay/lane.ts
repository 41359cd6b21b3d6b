import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { connectOptions } from "../network/connect-options.ts";
import type { Clock } from "./ports.ts";
import { InvalidReplyError, ReplyParser, type ReplyReader } from "./reply-parser.ts";

export interface LaneOptions {
  url: URL;
  /** Accepts any certificate. */
  skipVerify: boolean;
  /** The time limit of a forward, in milliseconds. */
  timeoutMs: number;
  clock: Clock;
}

export interface LaneExchange extends ReplyReader {
  /** No response will come, or no more of it. */
  failed(error: Error): void;
}

/**
 * A connection that was idle for longer is not used again: most receivers keep theirs longer. One that a receiver closes
 * while a request is sent fails that request, since nobody can tell whether it was handled (RFC 9110 9.2.2).
 */
const MAX_IDLE_MS = 1000;

/**
 * One connection to the receiver, for one POST at a time; made at the first and kept while both sides let it. A client
 * library for all of HTTP costs more than everything else that is done for an event.
 */
export class Lane {
  readonly #options: LaneOptions;
  #socket: Socket | undefined;
  #exchange: LaneExchange | undefined;
  #parser: ReplyParser | undefined;
  #idleSince = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Sends a whole request; the exchange is told of everything that follows. */
  post(request: Uint8Array, exchange: LaneExchange): void {
    if (this.#options.clock.now() - this.#idleSince > MAX_IDLE_MS) this.cut();
    const socket = (this.#socket ??= this.#connect());
    this.#exchange = exchange;
    this.#parser = new ReplyParser({
      head: (status, headers) => exchange.head(status, headers),
      data: (chunk) => exchange.data(chunk),
      end: () => this.#ended(exchange),
    });
    socket.write(request);
  }

  /** Cuts the connection; the exchange under way hears no more. */
  cut(): void {
    this.#exchange = undefined;
    this.#forget()?.destroy();
  }

  #connect(): Socket {
    const { url, skipVerify, timeoutMs } = this.#options;
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const isSecure = url.protocol === "https:";
    const where = {
      host,
      port: Number(url.port || (isSecure ? 443 : 80)),
      noDelay: true,
      ...connectOptions(host, timeoutMs),
    };
    const name = isIP(host) === 0 ? { servername: host } : {};
    const secure = { rejectUnauthorized: !skipVerify, ALPNProtocols: ["http/1.1"], ...name };
    const socket = isSecure ? connectTls({ ...where, ...secure }) : connectTcp(where);
    socket.on("data", (bytes) => this.#received(socket, bytes));
    socket.on("error", (error) => this.#broke(socket, error));
    // An end without an error: perhaps of a reply that goes on until then.
    socket.on("end", () => this.#closed(socket));
    socket.on("close", () => this.#closed(socket));
    return socket;
  }

  #received(socket: Socket, bytes: Buffer): void {
    if (socket !== this.#socket) return;
    try {
      // What nobody asked for makes the connection unfit for the next request.
      if (this.#exchange === undefined) return this.cut();
      this.#parser?.push(bytes);
    } catch (error) {
      if (!(error instanceof InvalidReplyError)) throw error;
      this.#broke(socket, error);
    }
  }

  /** The reply is complete. */
  #ended(exchange: LaneExchange): void {
    // It may have been cut while it was read, and another begun.
    if (exchange !== this.#exchange) return;
    this.#exchange = undefined;
    this.#idleSince = this.#options.clock.now();
    if (this.#parser?.reusable !== true) this.cut();
    exchange.end();
  }

  #closed(socket: Socket): void {
    if (socket !== this.#socket) return;
    if (this.#exchange !== undefined && this.#parser?.closed() === true) return;
    this.#broke(socket, Object.assign(new Error("the other side closed the connection"), { code: "ECONNRESET" }));
  }

  #broke(socket: Socket, error: Error): void {
    if (socket !== this.#socket) return;
    const exchange = this.#exchange;
    this.cut();
    exchange?.failed(error);
  }

  #forget(): Socket | undefined {
    const socket = this.#socket;
    this.#socket = undefined;
    return socket;
  }
}
