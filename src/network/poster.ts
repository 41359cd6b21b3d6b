import type { Socket } from "node:net";
import { type Clock, SUSPENDED_MS } from "./clock.ts";
import { InvalidResponseError, type ResponseHeaders, ResponseParser, type ResponseParts } from "./response-parser.ts";

export interface PosterOptions {
  /** The method (default: `POST`). */
  method?: "GET" | "POST";
  /** Opens a connection to the origin of a URL. */
  connect: (url: URL) => Socket;
  /** Time limit from the connect to the last byte of the response, in milliseconds. */
  timeoutMs: number;
  /** Size of the beginning of a response body that is read. The rest is dropped, with the connection. */
  excerptBytes: number;
  clock: Pick<Clock, "elapsed" | "after">;
}

export interface PostResult {
  /** The status of a response that was complete in time. */
  status?: number;
  /** Why there is none: the error of the socket or of the parser, or a TimeLimitError. */
  error?: Error;
  durationMs: number;
  /** The headers, if a response had begun. */
  headers: ResponseHeaders | undefined;
  /** The beginning of the response's body as text. */
  excerpt: string;
}

export class TimeLimitError extends Error {
  override name = "TimeLimitError";
  /** True if the response had begun. */
  readonly isResponding: boolean;

  constructor(isResponding: boolean) {
    super("no complete response within the time limit");
    this.isResponding = isResponding;
  }
}

/**
 * An idle connection is closed this soon: sooner than most receivers close theirs. One that a receiver closes while a
 * request is sent fails that request, since nobody can tell whether it was handled (RFC 9110 9.2.2).
 */
const MAX_IDLE_MS = 1000;

/** A connection of the pool, and what it does. */
interface Line {
  readonly connection: PostConnection;
  /** What it does; undefined while it is idle. */
  exchange: Exchange | undefined;
  idleSince: number;
}

/**
 * Sends POSTs, over connections that are reused. Redirects are not followed. The caller limits how many run at once. A
 * general HTTP client costs more processor time than everything else that is done for an event.
 */
export class Poster {
  readonly #options: PosterOptions;
  /**
   * All connections. A set of exchanges instead would change with each POST: the copies of it that V8 drops when it grows
   * are old, and would keep what they refer to alive until the next full garbage collection.
   */
  readonly #lines = new Set<Line>();
  /** Idle connections by origin, oldest first. */
  readonly #idle = new Map<string, Line[]>();
  #cancelDeadline: (() => void) | undefined;
  #cancelSweep: (() => void) | undefined;

  constructor(options: PosterOptions) {
    this.#options = options;
  }

  /**
   * Sends a body with a flat list of header names and values; Host, Connection and Content-Length are added. Calls
   * `ended` exactly once, whatever happens. A header with a line break, which would begin another one, is not sent.
   */
  post(url: URL, headers: readonly string[], body: Uint8Array, ended: (result: PostResult) => void): void {
    const { clock, timeoutMs } = this.#options;
    if (headers.some((text) => text.includes("\n") || text.includes("\r"))) {
      const error = new Error("a header contains a line break");
      queueMicrotask(() => ended({ error, durationMs: 0, headers: undefined, excerpt: "" }));
      return;
    }
    const { origin } = url;
    const line = this.#takeIdle(origin) ?? this.#open(url);
    const { connection } = line;
    line.exchange = new Exchange(connection, this.#options, (result) => {
      line.exchange = undefined;
      if (connection.isOpen) this.#keep(origin, line);
      else this.#lines.delete(line);
      ended(result);
    });
    this.#cancelDeadline ??= clock.after(timeoutMs, () => this.#checkDeadlines());
    connection.post(headOf(url, headers, body.length, this.#options.method), body, line.exchange);
  }

  /** Closes all connections. What is in flight does not end. */
  close(): void {
    this.#cancelDeadline?.();
    this.#cancelSweep?.();
    this.#cancelDeadline = undefined;
    this.#cancelSweep = undefined;
    for (const { connection } of this.#lines) connection.close();
    this.#lines.clear();
    this.#idle.clear();
  }

  #open(url: URL): Line {
    const connection = new PostConnection(() => this.#options.connect(url));
    const line: Line = { connection, exchange: undefined, idleSince: 0 };
    this.#lines.add(line);
    return line;
  }

  /** Returns the connection that was used last, unless it was closed meanwhile or has been idle for too long. */
  #takeIdle(origin: string): Line | undefined {
    const line = this.#idle.get(origin)?.pop();
    return line !== undefined && this.#isUsable(line) ? line : undefined;
  }

  #keep(origin: string, line: Line): void {
    const { clock } = this.#options;
    line.idleSince = clock.elapsed();
    const idle = this.#idle.get(origin);
    if (idle === undefined) this.#idle.set(origin, [line]);
    else idle.push(line);
    this.#cancelSweep ??= clock.after(MAX_IDLE_MS, () => this.#closeIdle());
  }

  /** Returns whether an idle connection can be used again. Closes it if not. */
  #isUsable(line: Line): boolean {
    const { connection, idleSince } = line;
    if (connection.isOpen && this.#options.clock.elapsed() - idleSince <= MAX_IDLE_MS) return true;
    connection.close();
    this.#lines.delete(line);
    return false;
  }

  #closeIdle(): void {
    for (const [origin, idle] of this.#idle) {
      const kept = idle.filter((line) => this.#isUsable(line));
      if (kept.length === 0) this.#idle.delete(origin);
      else this.#idle.set(origin, kept);
    }
    const { clock } = this.#options;
    this.#cancelSweep = this.#idle.size === 0 ? undefined : clock.after(MAX_IDLE_MS, () => this.#closeIdle());
  }

  /** One timer serves all exchanges: it waits for the oldest one's deadline. */
  #checkDeadlines(): void {
    const { clock, timeoutMs } = this.#options;
    const begunBefore = clock.elapsed() - timeoutMs;
    const due: Exchange[] = [];
    let next = Infinity;
    for (const { exchange } of this.#lines) {
      if (exchange === undefined) continue;
      if (exchange.startedAt <= begunBefore) due.push(exchange);
      else next = Math.min(next, exchange.startedAt);
    }
    // Set first: another exchange may begin when one ends.
    this.#cancelDeadline =
      next === Infinity ? undefined : clock.after(Math.ceil(next - begunBefore), () => this.#checkDeadlines());
    for (const exchange of due) exchange.expire();
  }
}

class Exchange implements ResponseReader {
  readonly connection: PostConnection;
  readonly startedAt: number;
  readonly #options: PosterOptions;
  readonly #ended: (result: PostResult) => void;
  #status: number | undefined;
  #headers: ResponseHeaders | undefined;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(connection: PostConnection, options: PosterOptions, ended: (result: PostResult) => void) {
    this.connection = connection;
    this.#options = options;
    this.#ended = ended;
    this.startedAt = options.clock.elapsed();
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    const available = this.#options.excerptBytes - this.#bytes;
    this.#bytes += chunk.length;
    // Copied, because a few bytes would otherwise retain the connection's whole buffer.
    this.#chunks.push(Buffer.from(chunk.subarray(0, available)));
    if (chunk.length <= available) return;
    this.connection.close();
    this.end();
  }

  end(): void {
    const late = this.#elapsed() - this.#options.timeoutMs;
    // A timer may fire a little late; the limit holds nevertheless. After a suspension the duration says nothing about
    // the receiver: its response may have waited to be read for as long.
    this.#end(late > 0 && late <= SUSPENDED_MS ? new TimeLimitError(true) : undefined);
  }

  failed(error: Error): void {
    this.#end(error);
  }

  expire(): void {
    this.connection.close();
    this.#end(new TimeLimitError(this.#status !== undefined));
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const result: PostResult = { durationMs: this.#elapsed(), headers: this.#headers, excerpt: this.#excerpt() };
    if (error === undefined) result.status = this.#status!;
    else result.error = error;
    this.#ended(result);
  }

  #elapsed(): number {
    return this.#options.clock.elapsed() - this.startedAt;
  }

  #excerpt(): string {
    if (this.#chunks.length === 0) return "";
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    if (this.#bytes <= this.#options.excerptBytes) return bytes.toString("utf8");
    // Streaming mode omits a character that the limit has cut in two.
    return new TextDecoder().decode(bytes, { stream: true });
  }
}

/** Returns the head of a request (RFC 9112). */
function headOf(url: URL, headers: readonly string[], bodyBytes: number, method = "POST"): string {
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n`;
  let hasHost = false;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!;
    hasHost ||= name.length === 4 && name.toLowerCase() === "host";
    head += `${name}: ${headers[i + 1]!}\r\n`;
  }
  if (!hasHost) head += `Host: ${url.host}\r\n`;
  return `${head}Connection: keep-alive\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
}

interface ResponseReader extends ResponseParts {
  /** No response follows, or not the rest of it. */
  failed(error: Error): void;
}

/** One connection, for one POST at a time; opened for the first and reused as long as both sides allow it. */
class PostConnection {
  readonly #open: () => Socket;
  #socket: Socket | undefined;
  #reader: ResponseReader | undefined;
  #parser: ResponseParser | undefined;
  /** True while the receiver has not read the whole request. */
  #isWriting = false;

  constructor(open: () => Socket) {
    this.#open = open;
  }

  /** Returns true if the connection is open, for the next request. */
  get isOpen(): boolean {
    return this.#socket !== undefined;
  }

  /** Sends a request; the reader is called with everything that follows. */
  post(head: string, body: Uint8Array, reader: ResponseReader): void {
    const socket = (this.#socket ??= this.#connect());
    this.#reader = reader;
    this.#parser = new ResponseParser({
      head: (status, headers) => reader.head(status, headers),
      data: (chunk) => reader.data(chunk),
      end: () => this.#ended(reader),
    });
    if (body.length > PIECE_BYTES) {
      socket.write(head, "latin1");
      return this.#writePieces(socket, reader, body, 0);
    }
    const request = Buffer.allocUnsafe(head.length + body.length);
    request.write(head, 0, "latin1");
    request.set(body, head.length);
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
    const socket = this.#open();
    socket.on("data", (bytes: Buffer) => this.#received(socket, bytes));
    socket.on("error", (error) => this.#fail(socket, error));
    // An end without an error may be that of a response without a length.
    socket.on("end", () => this.#closed(socket));
    socket.on("close", () => this.#closed(socket));
    return socket;
  }

  #writePieces(socket: Socket, reader: ResponseReader, body: Uint8Array, start: number): void {
    let end = start;
    let isRead = true;
    while (isRead && end < body.length) {
      isRead = socket.write(body.subarray(end, end + PIECE_BYTES));
      end += PIECE_BYTES;
    }
    this.#isWriting = end < body.length;
    if (!this.#isWriting) return;
    socket.once("drain", () => {
      if (reader === this.#reader) this.#writePieces(socket, reader, body, end);
    });
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
    if (this.#isWriting || this.#parser?.reusable !== true) this.close();
    this.#isWriting = false;
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

/**
 * A larger body is written in pieces of this size as the receiver reads them. TLS copies all it is given, and keeps the
 * copy while the receiver does not read.
 */
const PIECE_BYTES = 64 * 1024;
