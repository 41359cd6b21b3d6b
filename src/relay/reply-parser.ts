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

const HEAD_MOST = 64 * 1024;
const LINE_MOST = 4 * 1024;
const PREFIX = "HTTP/1.";
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/;
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const UNPRINTABLE = /[^\t\u0020-\u007e\u0080-\u00ff]/;
const NOTHING = Buffer.alloc(0);

type State = "head" | "length" | "size" | "chunk" | "chunk end" | "trailers" | "close" | "done";

/** Reads one reply to a POST from the bytes of a connection (RFC 9112), as they come. */
export class ReplyParser {
  readonly #reader: ReplyReader;
  #state: State = "head";
  /** What came of a line, or of the head, that has not ended yet. */
  #partial: Buffer = NOTHING;
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
      case "head":
        return this.#readHead(bytes);
      case "size":
        return this.#readLine(bytes, (line) => this.#readSize(line));
      case "chunk end":
        return this.#readLine(bytes, (line) => {
          if (line !== "") throw new InvalidReplyError("a chunk is longer than it says");
          this.#state = "size";
        });
      case "trailers":
        return this.#readLine(bytes, (line) => {
          if (line === "") this.#state = "done";
        });
      case "close":
        this.#reader.data(bytes);
        return undefined;
      default:
        return this.#readCounted(bytes);
    }
  }

  #readHead(bytes: Buffer): Buffer | undefined {
    const known = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes]);
    const end = known.indexOf("\r\n\r\n");
    // Anything else than HTTP may never end its first line.
    if (!PREFIX.startsWith(known.toString("latin1", 0, PREFIX.length))) {
      throw new InvalidReplyError(`it begins with ${JSON.stringify(known.toString("latin1", 0, 20))}`);
    }
    if (end === -1 || end > HEAD_MOST) {
      if (known.length > HEAD_MOST) throw new InvalidReplyError("its headers do not end");
      this.#partial = known;
      return undefined;
    }
    this.#partial = NOTHING;
    this.#readLines(known.toString("latin1", 0, end).split("\r\n"));
    return known.subarray(end + 4);
  }

  #readLines([statusLine = "", ...lines]: string[]): void {
    const [, minor, code] = STATUS_LINE.exec(statusLine) ?? [];
    if (code === undefined) throw new InvalidReplyError("its first line is no status line");
    const status = Number(code);
    const headers = readFields(lines);
    if (status === 101) throw new InvalidReplyError("it switches protocols, which nobody asked for");
    // Interim responses precede the one that counts, even where nobody expects one (RFC 9110 15.2).
    if (status < 200) return;
    const connection = (headers.get("connection") ?? "").toLowerCase();
    this.#keepAlive = minor === "1" ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
    this.#state = this.#bodyState(status, headers);
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
      const [first = "", ...others] = length.split(",").map((part) => part.trim());
      if (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first)) {
        throw new InvalidReplyError("its length is no number");
      }
      this.#remaining = Number(first);
      return "length";
    }
    this.#keepAlive = false;
    return "close";
  }

  #readSize(line: string): void {
    const [, digits] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
    if (digits === undefined) throw new InvalidReplyError("a chunk does not tell its size");
    this.#remaining = Number.parseInt(digits, 16);
    this.#state = this.#remaining === 0 ? "trailers" : "chunk";
  }

  #readCounted(bytes: Buffer): Buffer {
    const taken = Math.min(bytes.length, this.#remaining);
    this.#remaining -= taken;
    this.#reader.data(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    if (this.#remaining === 0) {
      if (this.#state === "length") this.#state = "done";
      else this.#state = "chunk end";
    }
    return bytes.subarray(taken);
  }

  #readLine(bytes: Buffer, read: (line: string) => void): Buffer | undefined {
    const known = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes]);
    const end = known.indexOf("\r\n");
    if (end === -1 || end > LINE_MOST) {
      if (known.length > LINE_MOST) throw new InvalidReplyError("a line of its body does not end");
      this.#partial = known;
      return undefined;
    }
    this.#partial = NOTHING;
    read(known.toString("latin1", 0, end));
    return known.subarray(end + 2);
  }
}

function readFields(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!FIELD_NAME.test(name) || UNPRINTABLE.test(line)) throw new InvalidReplyError("a header of it is malformed");
    const key = name.toLowerCase();
    const value = line.slice(colon + 1).trim();
    const known = headers.get(key);
    headers.set(key, known === undefined ? value : `${known}, ${value}`);
  }
  return headers;
}
