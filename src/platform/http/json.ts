import { isUtf8 } from "node:buffer";
import { parseJson } from "../../contract/json.ts";
import { LIMITS } from "../../contract/limits.ts";
import { ApiError } from "../domain/api-error.ts";
import { errorCodes, type FastifyInstance } from "fastify";

/**
 * Parses a JSON body. Rejects what JSON.parse accepts or repairs: duplicate keys, numbers that would be rounded,
 * invalid UTF-8, half surrogate pairs, control characters, prototype keys, deep nesting and long numbers. Takes time
 * linear in the body's length. Throws ApiError `invalid_json` with the position.
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ApiError("invalid_json", "The body is not valid UTF-8.");
  if (bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) {
    throw new ApiError("invalid_json", "The body begins with a byte order mark. Remove it.");
  }
  const text = bytes.toString("utf8");
  // First, since JSON.parse takes long for deep nesting.
  assertStrict(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return failSyntax(text);
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const FORBIDDEN_KEYS = new Set(["__proto__", "prototype"]);
const MAX_NUMBER_LENGTH = 64;
/** A number of at most this many characters without an exponent is stored as it is written. */
const MAX_EXACT_LENGTH = 15;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * Checks each token once, by character codes, which is several times faster than regular expressions. JSON.parse checks
 * the grammar, so text that is not JSON may pass.
 */
function assertStrict(text: string): void {
  const control = text.search(CONTROL);
  if (control !== -1) fail("The body contains a control character", control);
  /** The keys of each open object; undefined before its first key, and for each open array. */
  const open: (Set<string> | undefined)[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const next = endOfSpace(text, end);
      if (text.charCodeAt(next) === COLON && open.length > 0) {
        assertKey(text.slice(at, end), (open[open.length - 1] ??= new Set()), at);
      }
      at = next;
    } else if (isDigit(code) || code === 0x2d) {
      const end = endOfNumber(text, at);
      assertNumber(text, at, end);
      at = end;
    } else {
      if (code === 0x7b || code === 0x5b) open.push(undefined);
      else if (code === 0x7d || code === 0x5d) open.pop();
      if (open.length > LIMITS.bodyDepth) fail(`JSON nested deeper than ${LIMITS.bodyDepth} levels`, at);
      at++;
    }
  }
}

/** Returns the index after the closing quote, or the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    at = code === BACKSLASH ? endOfEscape(text, at) : at + 1;
  }
  return text.length;
}

/** A pair of surrogates counts as one escape. */
function endOfEscape(text: string, at: number): number {
  const letter = text[at + 1];
  if (letter === "b" || letter === "f") fail("A string contains a control character", at);
  if (letter !== "u") return at + 2;
  const code = escapedCode(text, at);
  if (isControl(code)) fail("A string contains a control character", at);
  if (!(code >= 0xd800 && code <= 0xdfff)) return at + 6;
  const low = text.startsWith("\\u", at + 6) ? escapedCode(text, at + 6) : 0;
  if (code > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) fail("A string contains half of a surrogate pair", at);
  return at + 12;
}

/** Returns NaN if the escape is malformed. */
function escapedCode(text: string, at: number): number {
  return Number(`0x${text.slice(at + 2, at + 6)}`);
}

/** Tabs and line breaks may be escaped in a string; other control characters may not. */
function isControl(code: number): boolean {
  return (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) || (code >= 0x7f && code <= 0x9f);
}

function endOfSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

function assertKey(token: string, keys: Set<string>, at: number): void {
  const key = token.includes("\\") ? ((parseJson(token) ?? token) as string) : token.slice(1, -1);
  if (FORBIDDEN_KEYS.has(key)) fail(`The key ${JSON.stringify(key)} is not allowed`, at);
  if (keys.has(key)) fail(`The key ${JSON.stringify(key.slice(0, 100))} is repeated`, at);
  keys.add(key);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** A run of digits, signs, points and the letter E. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) && code !== 0x2b && code !== 0x2d && code !== 0x2e && (code | 0x20) !== 0x65) return at;
    at++;
  }
}

function assertNumber(text: string, start: number, end: number): void {
  if (end - start > MAX_NUMBER_LENGTH) fail(`A number has more than ${MAX_NUMBER_LENGTH} characters`, start);
  const token = text.slice(start, end);
  const value = Number(token);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) fail(`The number ${token} is too large to be stored exactly`, start);
  if (token.length <= MAX_EXACT_LENGTH && !/e/i.test(token)) return;
  const given = decimalOf(token);
  if (given !== undefined && given !== decimalOf(String(value))) {
    fail(`The number ${token} would be rounded to ${value}`, start);
  }
}

/** Returns the digits and the exponent of a number, the same for each notation of it; undefined if it is not a number. */
function decimalOf(token: string): string | undefined {
  const [, whole, fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(token) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** A string up to its closing quote, or to what it must not contain. */
const STRING = /"(?:[^"\\\n\r\t]|\\(?:["\\/nrt]|u[0-9a-fA-F]{4}))*/y;
const TOKEN = new RegExp(
  String.raw`${STRING.source}"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|[{}[\],:]`,
  "y",
);

/** Throws the first mistake in text that is not JSON. What JSON.parse says depends on the version of Node.js. */
function failSyntax(text: string): never {
  /** The brackets that close the open objects and arrays. */
  const open: string[] = [];
  const afterValue = () => (open.length === 0 ? "the end of the body" : `a comma or ${open.at(-1)}`);
  let expected = "a value";
  for (let at = 0; ; at = TOKEN.lastIndex) {
    at = TOKEN.lastIndex = endOfSpace(text, at);
    const [token = ""] = TOKEN.exec(text) ?? [];
    const isString = token.startsWith('"');
    if (token === "}" || token === "]") {
      if (!expected.endsWith(token)) failExpected(expected, text, at);
      open.pop();
      expected = afterValue();
    } else if (token === "," && expected.startsWith("a comma")) {
      expected = open.at(-1) === "}" ? KEY : "a value";
    } else if (token === ":" && expected === "a colon") {
      expected = "a value";
    } else if (isString && expected.startsWith(KEY)) {
      expected = "a colon";
    } else if (/^[^,:]/.test(token) && expected.startsWith("a value")) {
      if (token === "{" || token === "[") open.push(token === "{" ? "}" : "]");
      expected = token === "{" ? `${KEY} or }` : token === "[" ? "a value or ]" : afterValue();
    } else failExpected(expected, text, at);
  }
}

const KEY = "a key in double quotes";

function failExpected(expected: string, text: string, at: number): never {
  if (text[at] === '"' && /^a (?:key|value)/.test(expected)) failString(text, at);
  const found = at === text.length ? "the end of the body" : String.fromCodePoint(text.codePointAt(at)!);
  fail(`Expected ${expected}, not ${found}`, at);
}

function failString(text: string, start: number): never {
  STRING.lastIndex = start;
  STRING.exec(text);
  const at = STRING.lastIndex;
  if (at === text.length) fail("A string is not closed", at);
  fail(`A string contains ${text[at] === "\\" ? "an invalid escape" : "a control character"}`, at);
}

function fail(what: string, at: number): never {
  throw new ApiError("invalid_json", `${what} (at character ${at + 1}).`);
}

/** Makes the server accept JSON only. An empty body counts as no body. */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    try {
      if ((body as Buffer).length === 0) return done(null, undefined);
      request.sentBody = body as Buffer;
      assertUtf8(request.headers["content-type"]);
      done(null, parseStrictJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  // If a body of another type ends before its first byte, it counts as no body; any other is rejected unread.
  app.addContentTypeParser("*", (request, body, done) => {
    const reject = () => {
      body.off("error", done).pause();
      done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(request.headers["content-type"]));
    };
    if (request.headers["transfer-encoding"] === undefined) return reject();
    body
      .once("data", reject)
      .once("end", () => done(null, undefined))
      .once("error", done);
  });
}

function assertUtf8(contentType: string | undefined): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase();
  if (charset === undefined || charset === "utf-8" || charset === "utf8") return;
  throw new ApiError("unsupported_media_type", `Send JSON as UTF-8, not as ${charset.slice(0, 40)}.`);
}
