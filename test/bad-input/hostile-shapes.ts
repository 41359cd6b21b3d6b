import { DEEP, pumped } from "../support/time-budget.ts";

/** Repeats an item, separated by commas. */
export const list = (length: number, item: (index: number) => string) =>
  Array.from({ length }, (_, i) => item(i)).join();

const digits = pumped("1");

/** 1 MiB of JSON or of text that resembles it, by description. */
export const HOSTILE_JSON: readonly (readonly [what: string, text: string])[] = [
  ["arrays without an end", pumped("[")],
  ["nested arrays", `${"[".repeat(524_288)}${"]".repeat(524_288)}`],
  ["nested objects", pumped('{"a":')],
  ["arrays nested as deep as is allowed", DEEP],
  ["a long integer", digits],
  ["a long fraction with an exponent", `9007199254740993.${digits}e0`],
  ["a long exponent", `1e${digits}`],
  ["a long run of signs", pumped("-")],
  ["many numbers", `[${pumped("1,")}1]`],
  ["many numbers as long as is allowed", `[${pumped(`0.${"1".repeat(62)},`)}1]`],
  ["backslashes in a string", `"${pumped("\\")}`],
  ["escaped quotes in a string", `"${pumped('\\"')}`],
  ["Unicode escapes in a string", `["${pumped("\\u00e9")}"]`],
  ["escaped surrogates in a string", `["${pumped("\\ud83d\\ude00")}"]`],
  ["high surrogates in a string", `["${pumped("\\ud83d")}"]`],
  ["many strings", `[${pumped('"",')}""]`],
  ["many strings with an escape", `[${pumped('"\\n",')}""]`],
  ["many keys", `{${list(90_000, (i) => `"${i}":1`)}}`],
  ["many keys with an escape", `{${list(60_000, (i) => `"\\n${i}":1`)}}`],
  ["many keys that are the numbers of array items far apart", `{${list(60_000, (i) => `"${i * 65_536}":1`)}}`],
  ["many objects", `[${pumped('{"a":1},')}1]`],
  ["many objects of different shapes", `[${list(60_000, (i) => `{"a${i}":1}`)}]`],
  ["one key, again and again", `{${pumped('"a":1,')}"a":1}`],
  ["spaces", pumped(" ")],
  ["spaces after a key", `{"a"${pumped(" ")}`],
  ["quotes", pumped('"')],
  ["colons", pumped('"":')],
  ["null bytes", pumped("\0")],
  ["text outside of ASCII", `["${"é".repeat(524_288)}"]`],
];

/** The repeated parts of hostile texts of any length. */
export const UNITS = [
  "a",
  "1",
  "/",
  "/a",
  ".",
  "a.",
  " ",
  "\\",
  '"',
  "$",
  "${",
  "{",
  "[",
  "%",
  "%41",
  "@",
  ":",
  ",",
  ";",
  "=",
  "a=1&",
  "&",
  "-",
  "_",
  "sk_live_",
  "v1=",
  "\n",
  "é",
  "xn--a.",
];

const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

/** 1 MiB of an HTTP response or of text that resembles one, by description. */
export const HOSTILE_RESPONSES: Readonly<Record<string, string>> = {
  "a status line without an end": `HTTP/1.1 200 ${pumped("a")}`,
  "a header without an end": `${OK}A: ${pumped("a")}`,
  "a header's name without an end": OK + pumped("a"),
  "many headers": `${OK}${pumped("A: b\r\n")}\r\n`,
  "many folded lines": `${OK}A: b\r\n${pumped(" a\r\n")}\r\n`,
  "spaces around a value": `${OK}A: ${pumped(" ")}a${pumped(" ", 1000)}\r\n\r\n`,
  "a long length": `${OK}Content-Length: ${pumped("1")}\r\n\r\n`,
  "many lengths": `${OK}Content-Length: 1${pumped(",1", 15_000)}\r\n\r\n`,
  "many interim responses": pumped("HTTP/1.1 100 Continue\r\n\r\n"),
  "many small chunks": `${CHUNKED}${pumped("1\r\na\r\n")}0\r\n\r\n`,
  "a long chunk size": CHUNKED + pumped("0"),
  "an extension without an end": `${CHUNKED}1;a=${pumped("b")}`,
  "many extensions": `${CHUNKED}1${pumped(";a=b", 4000)};\r\n`,
  "many extensions on every chunk": CHUNKED + pumped(`1${pumped(";a=b", 3900)}\r\na\r\n`),
  "quotes in an extension": `${CHUNKED}1;a="${pumped('\\"', 4000)}\r\n`,
  "spaces in an extension": `${CHUNKED}1${pumped(" ", 4000)}x\r\n`,
  "many trailers": `${CHUNKED}0\r\n${pumped("A: b\r\n")}\r\n`,
  "line feeds": OK + pumped("\n"),
  "carriage returns": OK + pumped("\r"),
  "null bytes": pumped("\0"),
};
