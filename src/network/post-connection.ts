import type { Socket } from "node:net";
import { InvalidResponseError, ResponseParser, type ResponseParts } from "./response-parser.ts";

export interface ResponseReader extends ResponseParts {
  /** No response follows, or not the rest of it. */
  failed(error: Error): void;
}

/** One connection, for one POST at a time; opened for the first and reused as long as both sides allow it. */
export class PostConnection {
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
