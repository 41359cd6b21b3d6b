/** Headers of a response; names in lower case, repeated ones joined with a comma. */
export type ResponseHeaders = ReadonlyMap<string, string>;

export interface ResponseParts {
  head(status: number, headers: ResponseHeaders): void;
  data(chunk: Buffer): void;
  end(): void;
}

/** A response that is not valid HTTP/1.x; the message completes "an invalid HTTP response". */
export class InvalidResponseError extends Error {
  override name = "InvalidResponseError";
}

const MAX_HEAD_BYTES = 16 * 1024;
const MAX_CHUNK_LINE = 4 * 1024;
const PREFIX = "HTTP/1.";
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const FIELD_NAME = new RegExp(`^${TOKEN}$`);
const EXTENSION = `[ \\t]*;[ \\t]*${TOKEN}(?:[ \\t]*=[ \\t]*(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?`;
const CHUNK_LINE = new RegExp(`^([0-9a-f]+)(?:${EXTENSION})*$`, "i");
const UNPRINTABLE = /[^\t\u0020-\u007e\u0080-\u00ff]/;
const LINE_FEED = 0x0a;
/** The other side may close a connection that it keeps for a second or less while the next request is sent. */
const KEPT_BRIEFLY = /(?:^|[ ,;])timeout=[01](?!\d)/i;

type State = "status" | "fields" | "length" | "size" | "chunk" | "chunk end" | "trailers" | "close" | "done";

/** Reads one response to a POST from the bytes of a connection (RFC 9112), as they arrive. */
export class ResponseParser {
  readonly #reader: ResponseParts;
  #state: State = "status";
  /** Parts of the current line. */
  #pieces: Buffer[] = [];
  /** Bytes left for the head, the trailers or the line of a chunk. */
  #room = MAX_HEAD_BYTES;
  #statusLine = "";
  #fields: string[] = [];
  #remaining = 0;
  #keepAlive = false;

  constructor(reader: ResponseParts) {
    this.#reader = reader;
  }

  /** True once the response has ended and the connection can be reused. */
  get reusable(): boolean {
    return this.#state === "done" && this.#keepAlive;
  }

  /** Throws InvalidResponseError. */
  push(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes;
    while (rest !== undefined && rest.length > 0 && this.#state !== "done") rest = this.#step(rest);
    if (this.#state !== "done") return;
    // Bytes after the response belong to no request.
    if (rest !== undefined && rest.length > 0) this.#keepAlive = false;
    this.#reader.end();
  }

  /** Must be called when the connection ends; returns true if that completes the response. */
  closed(): boolean {
    if (this.#state !== "close") return false;
    this.#state = "done";
    this.#reader.end();
    return true;
  }

  /** Consumes the first bytes and returns the rest; undefined if more are needed. */
  #step(bytes: Buffer): Buffer | undefined {
    switch (this.#state) {
      case "status":
        if (MAX_HEAD_BYTES - this.#room < PREFIX.length) this.#assertHttp(bytes);
        return this.#readLine(bytes, (line) => {
          this.#statusLine = line;
          this.#state = "fields";
        });
      case "fields":
        return this.#readLine(bytes, (line) => {
          if (line === "") this.#readHead();
          else this.#fields.push(line);
        });
      case "size":
        return this.#readLine(bytes, (line) => this.#readSize(line));
      case "chunk end":
        return this.#readLine(bytes, (line) => {
          if (line !== "") throw new InvalidResponseError("a chunk exceeds its size");
          this.#enter("size", MAX_CHUNK_LINE);
        });
      case "trailers":
        return this.#readLine(bytes, (line) => {
          if (line === "") this.#state = "done";
          else readFields([line]);
        });
      case "close":
        this.#reader.data(bytes);
        return undefined;
      default:
        return this.#readCounted(bytes);
    }
  }

  #enter(state: State, available: number): void {
    this.#state = state;
    this.#room = available;
  }

  #assertHttp(bytes: Buffer): void {
    const previous = this.#pieces.length === 0 ? bytes : Buffer.concat([...this.#pieces, bytes]);
    // Another protocol may never end its first line.
    if (!PREFIX.startsWith(previous.toString("latin1", 0, PREFIX.length))) {
      throw new InvalidResponseError(`it starts with ${JSON.stringify(previous.toString("latin1", 0, 20).trimEnd())}`);
    }
  }

  #readHead(): void {
    const [, minor, code] = STATUS_LINE.exec(this.#statusLine) ?? [];
    if (code === undefined) throw new InvalidResponseError("invalid status line");
    const status = Number(code);
    const headers = readFields(this.#fields);
    if (status === 101) throw new InvalidResponseError("unexpected status 101");
    // Interim responses precede the final one, even if none is expected (RFC 9110 15.2).
    if (status < 200) {
      this.#fields = [];
      return this.#enter("status", MAX_HEAD_BYTES);
    }
    const connection = (headers.get("connection") ?? "").toLowerCase();
    this.#keepAlive = minor === "1" ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
    if (KEPT_BRIEFLY.test(headers.get("keep-alive") ?? "")) this.#keepAlive = false;
    // HTTP/1.0 has no chunks: a server that sends them may be wrong about where the response ends (RFC 9112 6.1).
    if (minor === "0" && headers.has("transfer-encoding")) this.#keepAlive = false;
    this.#enter(this.#bodyState(status, headers), MAX_CHUNK_LINE);
    this.#reader.head(status, headers);
    if (this.#state === "length" && this.#remaining === 0) this.#state = "done";
  }

  #bodyState(status: number, headers: ResponseHeaders): State {
    if (status === 204 || status === 304) return "length";
    const coding = headers.get("transfer-encoding")?.toLowerCase();
    const length = headers.get("content-length");
    if (coding !== undefined && length !== undefined)
      throw new InvalidResponseError("both Content-Length and Transfer-Encoding");
    if (coding === "chunked") return "size";
    if (coding !== undefined) throw new InvalidResponseError(`unknown transfer coding ${coding.slice(0, 40)}`);
    if (length !== undefined) {
      this.#remaining = /^\d+$/.test(length) ? Number(length) : Number.NaN;
      if (!Number.isSafeInteger(this.#remaining)) throw new InvalidResponseError("invalid Content-Length");
      return "length";
    }
    this.#keepAlive = false;
    return "close";
  }

  #readSize(line: string): void {
    const [, digits = ""] = CHUNK_LINE.exec(line) ?? [];
    this.#remaining = Number.parseInt(digits, 16);
    if (!Number.isSafeInteger(this.#remaining) || UNPRINTABLE.test(line)) {
      throw new InvalidResponseError("invalid chunk size");
    }
    if (this.#remaining === 0) this.#enter("trailers", MAX_HEAD_BYTES);
    else this.#state = "chunk";
  }

  #readCounted(bytes: Buffer): Buffer {
    const taken = Math.min(bytes.length, this.#remaining);
    this.#remaining -= taken;
    this.#reader.data(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    if (this.#remaining === 0) {
      if (this.#state === "length") this.#state = "done";
      else this.#enter("chunk end", MAX_CHUNK_LINE);
    }
    return bytes.subarray(taken);
  }

  /** Reads a line, which must end in CRLF. Looks at each byte once, however they are split. */
  #readLine(bytes: Buffer, read: (line: string) => void): Buffer | undefined {
    const end = bytes.indexOf(LINE_FEED) + 1;
    const piece = end === 0 ? bytes : bytes.subarray(0, end);
    this.#room -= piece.length;
    if (this.#room < 0) throw new InvalidResponseError("headers or chunk line too long");
    this.#pieces.push(piece);
    if (end === 0) return undefined;
    const line = (this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces)).toString("latin1");
    this.#pieces = [];
    if (!line.endsWith("\r\n")) throw new InvalidResponseError("a line does not end in CRLF");
    read(line.slice(0, -2));
    return bytes.subarray(end);
  }
}

function readFields(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!FIELD_NAME.test(name) || UNPRINTABLE.test(line)) throw new InvalidResponseError("malformed header");
    const key = name.toLowerCase();
    const value = withoutSpaces(line.slice(colon + 1));
    const previous = headers.get(key);
    headers.set(key, previous === undefined ? value : `${previous}, ${value}`);
  }
  return headers;
}

/** Removes spaces and tabs around a value; `trim` would remove other characters, too. */
function withoutSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
