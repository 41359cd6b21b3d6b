import { isUtf8 } from "node:buffer";
import { LIMITS } from "../../contract/limits.ts";
import { ApiError } from "../domain/api-error.ts";

/**
 * Reads a JSON body without the silent repairs of JSON.parse: duplicate keys, numbers that would be rounded, invalid
 * UTF-8, lone surrogates, control characters, prototype keys and deep nesting are refused, each with its place
 * (decisions 2). Throws ApiError `invalid_json`.
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ApiError("invalid_json", "The body is not valid UTF-8.");
  if (bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) {
    throw new ApiError("invalid_json", "The body begins with a byte order mark: leave it out.");
  }
  const reader = new Reader(bytes.toString("utf8"));
  return reader.document();
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PLAIN_STRING = /"[^"\\\u0000-\u001f\u007f-\u009f]*"/y;
const ESCAPED_STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
/** A string as far as it is one. */
const BEGUN_STRING = new RegExp(ESCAPED_STRING.source.slice(0, -1), "y");
/** A fraction that rounding may have swallowed. */
const FRACTION = /^[^eE]*\.\d*[1-9]\d*$/;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const FORBIDDEN_KEYS = new Set(["__proto__", "prototype"]);

class Reader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): unknown {
    this.space();
    if (this.at >= this.text.length) this.fail("The body is empty; a JSON object is expected");
    const value = this.value(1);
    this.space();
    if (this.at < this.text.length) this.fail("Unexpected text behind the JSON value");
    return value;
  }

  private value(depth: number): unknown {
    if (depth > LIMITS.bodyDepth) this.fail(`JSON nested deeper than ${LIMITS.bodyDepth} levels`);
    switch (this.text[this.at]) {
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      default:
        return this.number();
    }
  }

  private object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.at++;
    this.space();
    if (this.take("}")) return object;
    for (;;) {
      const place = this.at;
      if (this.text[this.at] !== '"') this.fail("A key in double quotes is expected");
      const key = this.string();
      if (FORBIDDEN_KEYS.has(key)) this.fail(`The key ${JSON.stringify(key)} is not allowed`, place);
      if (Object.hasOwn(object, key)) this.fail(`The key ${JSON.stringify(key)} is given twice`, place);
      this.space();
      if (!this.take(":")) this.fail("A colon is expected behind the key");
      this.space();
      object[key] = this.value(depth + 1);
      this.space();
      if (this.take("}")) return object;
      if (!this.take(",")) this.fail("A comma or } is expected");
      this.space();
    }
  }

  private array(depth: number): unknown[] {
    const items: unknown[] = [];
    this.at++;
    this.space();
    if (this.take("]")) return items;
    for (;;) {
      items.push(this.value(depth + 1));
      this.space();
      if (this.take("]")) return items;
      if (!this.take(",")) this.fail("A comma or ] is expected");
      this.space();
    }
  }

  private string(): string {
    const place = this.at;
    const plain = this.match(PLAIN_STRING);
    if (plain !== undefined) return this.wellFormed(plain.slice(1, -1), place);
    const escaped = this.match(ESCAPED_STRING);
    if (escaped === undefined) this.failInString(place);
    return this.wellFormed(JSON.parse(escaped) as string, place);
  }

  private failInString(place: number): never {
    this.match(BEGUN_STRING);
    if (this.at >= this.text.length) this.fail("A string is not ended", place);
    this.fail(this.text[this.at] === "\\" ? "A string holds a wrong escape" : "A string holds a raw control character");
  }

  private wellFormed(value: string, place: number): string {
    if (!value.isWellFormed()) this.fail("A string holds half of a surrogate pair", place);
    if (CONTROL.test(value)) this.fail("A string holds a control character", place);
    return value;
  }

  private number(): number {
    const place = this.at;
    const token = this.match(NUMBER);
    if (token === undefined) this.fail(this.at < this.text.length ? "Not a JSON value" : "The JSON ends too early");
    const value = Number(token);
    if (Number.isInteger(value) && FRACTION.test(token)) {
      this.fail(`The number ${token.slice(0, 40)} has more digits than are kept exactly`, place);
    }
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      this.fail(`The number ${token.slice(0, 40)} is too large to be kept exactly`, place);
    }
    return value;
  }

  private word<Value>(word: string, value: Value): Value {
    if (!this.text.startsWith(word, this.at)) this.fail("Not a JSON value");
    this.at += word.length;
    return value;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private space(): void {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at++;
  }

  private fail(what: string, place = this.at): never {
    throw new ApiError("invalid_json", `${what} (at character ${place + 1}).`);
  }
}
