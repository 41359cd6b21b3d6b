import { LIMITS } from "../contract/limits.ts";

/** What the relay reads of a reply's head; names in lower case. */
export type ReplyHeaders = ReadonlyMap<string, string>;

export interface ReplyReader {
  head(status: number, headers: ReplyHeaders): void;
  data(chunk: Buffer): void;
  end(): void;
}

/** A reply that is not HTTP/1.x as it should be. */
export class InvalidReplyError extends Error {
  override name = "InvalidReplyError";
}

const MAX_CHUNK_LINE = 4 * 1024;
const PREFIX = "HTTP/1.";
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const FIELD_NAME = new RegExp(`^${TOKEN}$`);
const EXTENSION = `[ \\t]*;[ \\t]*${TOKEN}(?:[ \\t]*=[ \\t]*(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?`;
const CHUNK_LINE = new RegExp(`^([0-9a-f]+)(?:${EXTENSION})*$`, "i");
const UNPRINTABLE = /[^\t\u0020-\u007e\u0080-\u00ff]/;
const LINE_FEED = 0x0a;

type State = "status" | "fields" | "length" | "size" | "chunk" | "chunk end" | "trailers" | "close" | "done";

/**
 * Reads one response to a POST from the bytes of a connection (RFC 9112), as they arrive. As strict as the client of the
 * platform's deliveries where it can be: what works here must work there.
 */
export class ReplyParser {
  readonly #reader: ReplyReader;
  #state: State = "status";
  /** The line that has not ended yet. */
  #pieces: Buffer[] = [];
  /** How many more bytes the head, the trailers or the line of a chunk may have. */
  #room: number = LIMITS.headerBytes;
  #statusLine = "";
  #fields: string[] = [];
  #remaining = 0;
  #keepAlive = false;

  constructor(reader: ReplyReader) {
    this.#reader = reader;
  }

  /** True once the reply has ended and left the connection fit for another request. */
  get reusable(): boolean {
    return this.#state === "done" && this.#keepAlive;
  }

  /** Throws InvalidReplyError. */
  push(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes;
    while (rest !== undefined && rest.length > 0 && this.#state !== "done") rest = this.#step(rest);
    if (this.#state !== "done") return;
    // Nobody asked for what follows.
    if (rest !== undefined && rest.length > 0) this.#keepAlive = false;
    this.#reader.end();
  }

  /** The connection has ended: true where that is the end of the reply. */
  closed(): boolean {
    if (this.#state !== "close") return false;
    this.#state = "done";
    this.#reader.end();
    return true;
  }

  /** Takes the beginning of the bytes and gives the rest; nothing where more is needed. */
  #step(bytes: Buffer): Buffer | undefined {
    switch (this.#state) {
      case "status":
        if (LIMITS.headerBytes - this.#room < PREFIX.length) this.#assertHttp(bytes);
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
          if (line !== "") throw new InvalidReplyError("a chunk is longer than it says");
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

  #enter(state: State, room: number): void {
    this.#state = state;
    this.#room = room;
  }

  #assertHttp(bytes: Buffer): void {
    const known = this.#pieces.length === 0 ? bytes : Buffer.concat([...this.#pieces, bytes]);
    // Anything else than HTTP may never end its first line.
    if (!PREFIX.startsWith(known.toString("latin1", 0, PREFIX.length))) {
      throw new InvalidReplyError(`it begins with ${JSON.stringify(known.toString("latin1", 0, 20))}`);
    }
  }

  #readHead(): void {
    const [, minor, code] = STATUS_LINE.exec(this.#statusLine) ?? [];
    if (code === undefined) throw new InvalidReplyError("its first line is no status line");
    const status = Number(code);
    const headers = readFields(this.#fields);
    if (status === 101) throw new InvalidReplyError("it switches protocols, which nobody asked for");
    // Interim responses precede the one that counts, even where nobody expects one (RFC 9110 15.2).
    if (status < 200) {
      this.#fields = [];
      return this.#enter("status", LIMITS.headerBytes);
    }
    const connection = (headers.get("connection") ?? "").toLowerCase();
    this.#keepAlive = minor === "1" ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
    // HTTP/1.0 knows no chunks: whoever sends them may be mistaken about where the response ends (RFC 9112 6.1).
    if (minor === "0" && headers.has("transfer-encoding")) this.#keepAlive = false;
    this.#enter(this.#bodyState(status, headers), MAX_CHUNK_LINE);
    this.#reader.head(status, headers);
    if (this.#state === "length" && this.#remaining === 0) this.#state = "done";
  }

  #bodyState(status: number, headers: ReplyHeaders): State {
    if (status === 204 || status === 304) return "length";
    const coding = headers.get("transfer-encoding")?.toLowerCase();
    const length = headers.get("content-length");
    if (coding !== undefined && length !== undefined) throw new InvalidReplyError("it tells its length in two ways");
    if (coding === "chunked") return "size";
    if (coding !== undefined) throw new InvalidReplyError(`its transfer coding ${coding.slice(0, 40)} is not known`);
    if (length !== undefined) {
      this.#remaining = /^\d+$/.test(length) ? Number(length) : Number.NaN;
      if (!Number.isSafeInteger(this.#remaining)) throw new InvalidReplyError("its length is no number");
      return "length";
    }
    this.#keepAlive = false;
    return "close";
  }

  #readSize(line: string): void {
    const [, digits = ""] = CHUNK_LINE.exec(line) ?? [];
    this.#remaining = Number.parseInt(digits, 16);
    if (!Number.isSafeInteger(this.#remaining) || UNPRINTABLE.test(line)) {
      throw new InvalidReplyError("a chunk does not tell its size");
    }
    if (this.#remaining === 0) this.#enter("trailers", LIMITS.headerBytes);
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

  /** Takes a line, which ends in CRLF alone. Looks at each byte once, however they are cut. */
  #readLine(bytes: Buffer, read: (line: string) => void): Buffer | undefined {
    const end = bytes.indexOf(LINE_FEED) + 1;
    const piece = end === 0 ? bytes : bytes.subarray(0, end);
    this.#room -= piece.length;
    if (this.#room < 0) throw new InvalidReplyError("its headers or a line of its body do not end");
    this.#pieces.push(piece);
    if (end === 0) return undefined;
    const line = (this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces)).toString("latin1");
    this.#pieces = [];
    if (!line.endsWith("\r\n")) throw new InvalidReplyError("a line of it does not end in CRLF");
    read(line.slice(0, -2));
    return bytes.subarray(end);
  }
}

function readFields(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!FIELD_NAME.test(name) || UNPRINTABLE.test(line)) throw new InvalidReplyError("a header of it is malformed");
    const key = name.toLowerCase();
    const value = withoutSpaces(line.slice(colon + 1));
    const known = headers.get(key);
    headers.set(key, known === undefined ? value : `${known}, ${value}`);
  }
  return headers;
}

/** Spaces and tabs alone may surround a value; `trim` also removes other characters. */
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
