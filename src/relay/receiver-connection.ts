import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { connectOptions } from "../network/connect-options.ts";
import type { Clock } from "./clock.ts";
import { InvalidResponseError, ResponseParser, type ResponseParts } from "./response-parser.ts";

export interface ReceiverConnectionOptions {
  url: URL;
  /** Accepts any certificate. */
  skipVerify: boolean;
  /** Time limit of a forward in milliseconds. */
  timeoutMs: number;
  clock: Clock;
}

export interface ResponseReader extends ResponseParts {
  /** No response follows, or no more of it. */
  failed(error: Error): void;
}

/**
 * A connection that was idle for longer is not reused: most receivers keep theirs open longer. One that a receiver closes
 * while a request is sent fails that request, since nobody can tell whether it was handled (RFC 9110 9.2.2).
 */
const MAX_IDLE_MS = 1000;

/**
 * One connection to a receiver, for one POST at a time; opened for the first and reused as long as both sides allow it. A
 * general HTTP client costs more processor time than everything else that is done for an event.
 */
export class ReceiverConnection {
  readonly #options: ReceiverConnectionOptions;
  #socket: Socket | undefined;
  #reader: ResponseReader | undefined;
  #parser: ResponseParser | undefined;
  #idleSince = 0;

  constructor(options: ReceiverConnectionOptions) {
    this.#options = options;
  }

  /** Sends a whole request; the reader is called with everything that follows. */
  post(request: Uint8Array, reader: ResponseReader): void {
    if (this.#options.clock.monotonicMilliseconds() - this.#idleSince > MAX_IDLE_MS) this.close();
    const socket = (this.#socket ??= this.#connect());
    this.#reader = reader;
    this.#parser = new ResponseParser({
      head: (status, headers) => reader.head(status, headers),
      data: (chunk) => reader.data(chunk),
      end: () => this.#ended(reader),
    });
    socket.write(request);
  }

  /** Closes the connection; the current reader is not called again. */
  close(): void {
    this.#reader = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  #connect(): Socket {
    const { url, skipVerify, timeoutMs } = this.#options;
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const isSecure = url.protocol === "https:";
    const address = {
      host,
      port: Number(url.port || (isSecure ? 443 : 80)),
      noDelay: true,
      ...connectOptions(host, timeoutMs),
    };
    const name = isIP(host) === 0 ? { servername: host } : {};
    const secure = { rejectUnauthorized: !skipVerify, ALPNProtocols: ["http/1.1"], ...name };
    const socket = isSecure ? connectTls({ ...address, ...secure }) : connectTcp(address);
    socket.on("data", (bytes) => this.#received(socket, bytes));
    socket.on("error", (error) => this.#fail(socket, error));
    // An end without an error may be that of a response without a length.
    socket.on("end", () => this.#closed(socket));
    socket.on("close", () => this.#closed(socket));
    return socket;
  }

  #received(socket: Socket, bytes: Buffer): void {
    if (socket !== this.#socket) return;
    try {
      // After bytes without a request, the connection cannot be trusted with the next one.
      if (this.#reader === undefined) return this.close();
      this.#parser?.push(bytes);
    } catch (error) {
      if (!(error instanceof InvalidResponseError)) throw error;
      this.#fail(socket, error);
    }
  }

  #ended(reader: ResponseReader): void {
    // The reader may have closed this connection, and another request may have begun.
    if (reader !== this.#reader) return;
    this.#reader = undefined;
    this.#idleSince = this.#options.clock.monotonicMilliseconds();
    if (this.#parser?.reusable !== true) this.close();
    reader.end();
  }

  #closed(socket: Socket): void {
    if (socket !== this.#socket) return;
    if (this.#reader !== undefined && this.#parser?.closed() === true) return;
    this.#fail(socket, Object.assign(new Error("the other side closed the connection"), { code: "ECONNRESET" }));
  }

  #fail(socket: Socket, error: Error): void {
    if (socket !== this.#socket) return;
    const reader = this.#reader;
    this.close();
    reader?.failed(error);
  }
}

/** Returns the bytes of a POST (RFC 9112). `headers` is a flat list of valid names and values. */
export function postRequest(url: URL, headers: readonly string[], body: Uint8Array): Buffer {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\n`;
  let hasHost = false;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!;
    hasHost ||= name.length === 4 && name.toLowerCase() === "host";
    head += `${name}: ${headers[i + 1]!}\r\n`;
  }
  if (!hasHost) head += `Host: ${url.host}\r\n`;
  head += `Connection: keep-alive\r\nContent-Length: ${body.length}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, "latin1");
  bytes.set(body, head.length);
  return bytes;
}
