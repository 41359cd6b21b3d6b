import { runInNewContext } from "node:vm";
import type { SignatureErrorCode } from "../../src/webhooks/index.ts";
import { headerOf, macOf, NOW, OTHER_SECRET, PAYLOAD, SECRET } from "./deliveries.ts";

export interface Vector {
  name: string;
  header: unknown;
  payload?: unknown;
  secrets?: string | string[];
  now?: number;
  tolerance?: number;
}

const MAC = macOf(PAYLOAD);
const WRONG = "0".repeat(64);
const v1 = (count: number, value = WRONG): string => Array.from({ length: count }, () => `,v1=${value}`).join("");
const padded = (length: number): string => {
  const header = `${headerOf(PAYLOAD)},x=`;
  return header + "y".repeat(length - header.length);
};

export const ACCEPTED: Vector[] = [
  { name: "a plain header", header: `t=${NOW},v1=${MAC}` },
  { name: "v1 before t", header: `v1=${MAC},t=${NOW}` },
  { name: "upper-case hex", header: `t=${NOW},v1=${MAC.toUpperCase()}` },
  { name: "mixed-case hex", header: `t=${NOW},v1=${MAC.slice(0, 32).toUpperCase()}${MAC.slice(32)}` },
  { name: "a space after the comma", header: `t=${NOW}, v1=${MAC}` },
  { name: "spaces and tabs around every item", header: ` \tt=${NOW} \t,  v1=${MAC}\t ` },
  { name: "the right v1 first of two", header: `t=${NOW},v1=${MAC},v1=${WRONG}` },
  { name: "the right v1 last of two", header: `t=${NOW},v1=${WRONG},v1=${MAC}` },
  { name: "the right v1 last of ten", header: `t=${NOW}${v1(9)},v1=${MAC}` },
  { name: "the same v1 twice", header: `t=${NOW},v1=${MAC},v1=${MAC}` },
  { name: "t between two v1", header: `v1=${WRONG},t=${NOW},v1=${MAC}` },
  { name: "unknown schemes", header: `t=${NOW},v0=abc,v1=${MAC},v2=${WRONG},v10=z` },
  { name: "an unknown scheme with an empty value", header: `t=${NOW},v2=,v1=${MAC}` },
  { name: "an unknown scheme with = in its value", header: `t=${NOW},ed=YQ==,v1=${MAC}` },
  { name: "a V1, another scheme, besides v1", header: `t=${NOW},V1=nonsense,v1=${MAC}` },
  { name: "a T, another name, besides t", header: `T=1,t=${NOW},v1=${MAC}` },
  { name: "a name with an inner space, another name", header: `t=${NOW},v1 =x,v1=${MAC}` },
  { name: "exactly 4,096 characters", header: padded(4096) },
  { name: "t exactly 300 s old", header: headerOf(PAYLOAD, NOW - 300) },
  { name: "t 299 s old", header: headerOf(PAYLOAD, NOW - 299) },
  { name: "t exactly 300 s ahead", header: headerOf(PAYLOAD, NOW + 300) },
  { name: "t=0 at the epoch", header: headerOf(PAYLOAD, 0), now: 0 },
  { name: "t of 12 digits", header: headerOf(PAYLOAD, 999_999_999_999), now: 999_999_999_999 },
  { name: "an old t within a wider tolerance", header: headerOf(PAYLOAD, NOW - 3600), tolerance: 3600 },
  { name: "t equal to now with no tolerance", header: headerOf(PAYLOAD), tolerance: 0 },
  { name: "now with a fraction", header: headerOf(PAYLOAD, NOW - 299), now: NOW + 0.5 },
  { name: "the second of two secrets", header: headerOf(PAYLOAD), secrets: [OTHER_SECRET, SECRET] },
  { name: "the first of two secrets", header: headerOf(PAYLOAD), secrets: [SECRET, OTHER_SECRET] },
  { name: "a payload as bytes", header: headerOf(PAYLOAD), payload: new TextEncoder().encode(PAYLOAD) },
  { name: "a payload as a Buffer", header: headerOf(PAYLOAD), payload: Buffer.from(PAYLOAD) },
  { name: "a payload as an ArrayBuffer", header: headerOf(PAYLOAD), payload: new TextEncoder().encode(PAYLOAD).buffer },
  {
    name: "a payload as a DataView into a larger buffer",
    header: headerOf("{}"),
    payload: new DataView(new TextEncoder().encode("xx{}yy").buffer, 2, 2),
  },
  {
    name: "a payload as an ArrayBuffer of another realm",
    header: headerOf("{}"),
    payload: runInNewContext("Uint8Array.of(123, 125).buffer") as ArrayBuffer,
  },
  {
    name: "a replacement character that the sender wrote",
    header: headerOf('{"a":"\uFFFD"}'),
    payload: Buffer.from('{"a":"\uFFFD"}'),
  },
  {
    name: "whitespace around a secret that does not match, beside the right one",
    header: headerOf(PAYLOAD),
    secrets: [` ${OTHER_SECRET}`, SECRET],
  },
  {
    name: "a payload as a view into a larger buffer",
    header: headerOf("{}"),
    payload: new Uint8Array(Buffer.from("xx{}yy")).subarray(2, 4),
  },
  {
    name: "odd spacing and escapes",
    header: headerOf('{ "a" :\t"\\/\\u00e9" }\n'),
    payload: '{ "a" :\t"\\/\\u00e9" }\n',
  },
  { name: "unicode", header: headerOf('{"name":"Zoë 🐶 日本"}'), payload: '{"name":"Zoë 🐶 日本"}' },
  { name: "a large number", header: headerOf('{"n":12345678901234567890}'), payload: '{"n":12345678901234567890}' },
  { name: "a byte order mark", header: headerOf("\uFEFF{}"), payload: Buffer.from("\uFEFF{}") },
  { name: "1 MiB", header: headerOf(`{"a":"${"x".repeat(1_048_568)}"}`), payload: `{"a":"${"x".repeat(1_048_568)}"}` },
];

export const REJECTED: Array<Vector & { code: SignatureErrorCode }> = [
  { name: "no header", header: undefined, code: "header_missing" },
  { name: "null", header: null, code: "header_missing" },
  { name: "an empty header", header: "", code: "header_missing" },
  { name: "a list of one", header: [headerOf(PAYLOAD)], code: "header_not_text" },
  { name: "a list of two", header: [headerOf(PAYLOAD), headerOf(PAYLOAD)], code: "header_not_text" },
  { name: "an empty list", header: [], code: "header_not_text" },
  { name: "an object", header: { t: NOW, v1: MAC }, code: "header_not_text" },
  { name: "a String object", header: Object(headerOf(PAYLOAD)), code: "header_not_text" },
  { name: "a Buffer", header: Buffer.from(headerOf(PAYLOAD)), code: "header_not_text" },
  { name: "a number", header: 5, code: "header_not_text" },
  { name: "a symbol", header: Symbol("t"), code: "header_not_text" },
  { name: "a bigint", header: 1n, code: "header_not_text" },
  { name: "true", header: true, code: "header_not_text" },
  { name: "an object that cannot become text", header: Object.create(null), code: "header_not_text" },
  { name: "4,097 characters", header: padded(4097), code: "header_too_long" },
  { name: "a million characters", header: "v1=".padEnd(1_000_000, "a"), code: "header_too_long" },
  { name: "a blank header", header: "   ", code: "header_malformed" },
  { name: "commas only", header: ",,,", code: "header_malformed" },
  { name: "a trailing comma", header: `${headerOf(PAYLOAD)},`, code: "header_malformed" },
  { name: "an item without =", header: `t=${NOW},junk,v1=${MAC}`, code: "header_malformed" },
  { name: "an item without a name", header: `=5,t=${NOW},v1=${MAC}`, code: "header_malformed" },
  { name: "a bare MAC", header: MAC, code: "header_malformed" },
  { name: "semicolons for commas", header: `t=${NOW};v1=${MAC}`, code: "timestamp_malformed" },
  { name: "no t", header: `v1=${MAC}`, code: "timestamp_missing" },
  { name: "a T for t", header: `T=${NOW},v1=${MAC}`, code: "timestamp_missing" },
  { name: "a space before t's =", header: `t =${NOW},v1=${MAC}`, code: "timestamp_missing" },
  { name: "a no-break space before t", header: `\u00A0t=${NOW},v1=${MAC}`, code: "timestamp_missing" },
  { name: "t twice", header: `t=${NOW},t=${NOW},v1=${MAC}`, code: "timestamp_repeated" },
  { name: "an old t and a fresh one", header: `${headerOf(PAYLOAD, 1)},t=${NOW}`, code: "timestamp_repeated" },
  { name: "two headers joined", header: `${headerOf(PAYLOAD)}, ${headerOf(PAYLOAD)}`, code: "timestamp_repeated" },
  { name: "an empty t", header: `t=,v1=${MAC}`, code: "timestamp_malformed" },
  { name: "t=NaN, signed so", header: headerOf(PAYLOAD, "NaN"), code: "timestamp_malformed" },
  { name: "t with a leading zero, signed so", header: headerOf(PAYLOAD, `0${NOW}`), code: "timestamp_malformed" },
  { name: "t=00", header: headerOf(PAYLOAD, "00"), now: 0, code: "timestamp_malformed" },
  { name: "t with junk after it, signed so", header: headerOf(PAYLOAD, `${NOW}x`), code: "timestamp_malformed" },
  { name: "a negative t", header: headerOf(PAYLOAD, -1), now: 0, code: "timestamp_malformed" },
  { name: "t with a plus sign", header: headerOf(PAYLOAD, `+${NOW}`), code: "timestamp_malformed" },
  { name: "a fractional t", header: headerOf(PAYLOAD, `${NOW}.0`), code: "timestamp_malformed" },
  { name: "t in hex", header: headerOf(PAYLOAD, "0x6553F100"), code: "timestamp_malformed" },
  { name: "t with an exponent", header: headerOf(PAYLOAD, "17e8"), code: "timestamp_malformed" },
  { name: "t of 13 digits", header: headerOf(PAYLOAD, NOW * 1000), now: NOW * 1000, code: "timestamp_malformed" },
  { name: "t in full-width digits", header: headerOf(PAYLOAD, "１７"), now: 17, code: "timestamp_malformed" },
  { name: "t with a line feed", header: headerOf(PAYLOAD, `${NOW}\n`), code: "timestamp_malformed" },
  { name: "t with an inner space", header: `t= ${NOW},v1=${MAC}`, code: "timestamp_malformed" },
  { name: "no v1", header: `t=${NOW}`, code: "signature_missing" },
  { name: "only v0", header: `t=${NOW},v0=${MAC}`, code: "signature_missing" },
  { name: "a V1 for v1", header: `t=${NOW},V1=${MAC}`, code: "signature_missing" },
  { name: "an empty v1", header: `t=${NOW},v1=`, code: "signature_malformed" },
  { name: "a v1 of 63 digits", header: `t=${NOW},v1=${MAC.slice(1)}`, code: "signature_malformed" },
  { name: "a v1 of 65 digits", header: `t=${NOW},v1=${MAC}0`, code: "signature_malformed" },
  { name: "a v1 of 32 digits", header: `t=${NOW},v1=${MAC.slice(32)}`, code: "signature_malformed" },
  { name: "a v1 that is not hex", header: `t=${NOW},v1=${"g".repeat(64)}`, code: "signature_malformed" },
  { name: "a v1 with junk after =", header: `t=${NOW},v1=${MAC}=x`, code: "signature_malformed" },
  { name: "a v1 in quotes", header: `t=${NOW},v1="${MAC}"`, code: "signature_malformed" },
  { name: "a v1 with a line feed", header: `t=${NOW},v1=${MAC}\n`, code: "signature_malformed" },
  { name: "64 characters outside ASCII", header: `t=${NOW},v1=${"é".repeat(64)}`, code: "signature_malformed" },
  { name: "64 full-width hex digits", header: `t=${NOW},v1=${"ａ".repeat(64)}`, code: "signature_malformed" },
  {
    name: "a v1 in base64",
    header: `t=${NOW},v1=${Buffer.from(MAC, "hex").toString("base64")}`,
    code: "signature_malformed",
  },
  { name: "a bad v1 beside the right one", header: `t=${NOW},v1=${MAC},v1=zz`, code: "signature_malformed" },
  { name: "eleven v1, the first one right", header: `t=${NOW},v1=${MAC}${v1(10)}`, code: "too_many_signatures" },
  { name: "another secret", header: headerOf(PAYLOAD, NOW, OTHER_SECRET), code: "signature_mismatch" },
  { name: "the secret without whsec_", header: headerOf(PAYLOAD, NOW, SECRET.slice(6)), code: "signature_mismatch" },
  {
    name: "neither of two secrets",
    header: headerOf(PAYLOAD),
    secrets: [OTHER_SECRET, "b"],
    code: "signature_mismatch",
  },
  { name: "another t than was signed", header: `t=${NOW + 1},v1=${MAC}`, code: "signature_mismatch" },
  { name: "the MAC of the body alone", header: `t=${NOW},v1=${macOf(PAYLOAD, "")}`, code: "signature_mismatch" },
  { name: "a wrong v1 and an old t: the signature comes first", header: `t=1,v1=${WRONG}`, code: "signature_mismatch" },
  { name: "another body", header: headerOf(PAYLOAD), payload: `${PAYLOAD} `, code: "signature_mismatch" },
  { name: "the body written again", header: headerOf('{"a": 1}'), payload: '{"a":1}', code: "signature_mismatch" },
  {
    name: "the body without its byte order mark",
    header: headerOf("\uFEFF{}"),
    payload: "{}",
    code: "signature_mismatch",
  },
  { name: "an empty body for a signed one", header: headerOf(PAYLOAD), payload: "", code: "signature_mismatch" },
  { name: "t 301 s old", header: headerOf(PAYLOAD, NOW - 301), code: "timestamp_too_old" },
  { name: "t=0", header: headerOf(PAYLOAD, 0), code: "timestamp_too_old" },
  { name: "t 300.5 s old", header: headerOf(PAYLOAD, NOW - 300), now: NOW + 0.5, code: "timestamp_too_old" },
  { name: "t 1 s old with no tolerance", header: headerOf(PAYLOAD, NOW - 1), tolerance: 0, code: "timestamp_too_old" },
  { name: "t 301 s ahead", header: headerOf(PAYLOAD, NOW + 301), code: "timestamp_in_future" },
  { name: "t ten years ahead", header: headerOf(PAYLOAD, NOW + 315_360_000), code: "timestamp_in_future" },
  { name: "an empty body, signed", header: headerOf(""), payload: "", code: "payload_not_json" },
  { name: "text, signed", header: headerOf("hello"), payload: "hello", code: "payload_not_json" },
  { name: "half of a JSON document, signed", header: headerOf('{"a":'), payload: '{"a":', code: "payload_not_json" },
  {
    name: "JSON with a stray byte, signed",
    header: headerOf(Buffer.from('{"a":"\xff"}', "latin1")),
    payload: Buffer.from('{"a":"\xff"}', "latin1"),
    code: "payload_not_json",
  },
  { name: "null, signed", header: headerOf("null"), payload: "null", code: "payload_not_event" },
  { name: "a JSON list, signed", header: headerOf("[{}]"), payload: "[{}]", code: "payload_not_event" },
  { name: "a JSON string, signed", header: headerOf('"evt_1"'), payload: '"evt_1"', code: "payload_not_event" },
  { name: "a parsed body", header: headerOf(PAYLOAD), payload: { id: "evt_1" }, code: "payload_not_raw" },
  { name: "a parsed list", header: headerOf(PAYLOAD), payload: [1], code: "payload_not_raw" },
  {
    name: "an empty ArrayBuffer for a signed body",
    header: headerOf(PAYLOAD),
    payload: new ArrayBuffer(0),
    code: "signature_mismatch",
  },
  { name: "a detached ArrayBuffer", header: headerOf(PAYLOAD), payload: detached().buffer, code: "payload_not_raw" },
  { name: "a detached DataView", header: headerOf(PAYLOAD), payload: detached(), code: "payload_not_raw" },
  { name: "an array of bytes", header: headerOf("{}"), payload: [123, 125], code: "payload_not_raw" },
  {
    name: "whitespace after the secret",
    header: headerOf(PAYLOAD),
    secrets: `${SECRET}\n`,
    code: "signature_mismatch",
  },
  { name: "no body", header: headerOf(PAYLOAD), payload: null, code: "payload_not_raw" },
];

/** Returns a view of a buffer that was transferred to another owner. */
function detached(): DataView {
  const view = new DataView(new ArrayBuffer(8));
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
}
