import type { Document, Json, Operation, Parameter, Schema } from "./document.ts";
import { breakBody, breakJson, HOSTILE_TEXTS } from "./invalid-values.ts";
import type { Seeded } from "./seeded.ts";
import type { ValidValues } from "./valid-values.ts";

/** The required response to a request, in addition to the document's rules. */
type Expectation =
  /** Success, or an error of the resource's own rules: a request that the document allows is never malformed. */
  | "taken"
  /** Any error response. */
  | "rejected"
  /** Rejected with exactly this code. */
  | { code: string }
  /** Whatever the document says. */
  | "documented";

export interface Request {
  operation: Operation;
  kind: string;
  target: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
  expected: Expectation;
}

/** A cursor from a list, with the query that it belongs to. */
export interface Cursor {
  operation: Operation;
  query: [string, string][];
  cursor: string;
}

export interface RequestTools {
  document: Document;
  values: ValidValues;
  seeded: Seeded;
  credential: string;
  /** The headers of a signed-in user, for operations that reject keys. */
  personHeaders: [name: string, value: string][];
  /** Host and port as a client would send them. */
  host: string;
  /** A credential of the other environment, where none of the known objects exist. */
  otherCredential: string;
  cursors: Cursor[];
  /** Returns true if the body violates its schema, according to an independent validator. */
  breaks: (operation: Operation, body: unknown) => boolean;
}

interface Draft {
  path: string;
  query: [string, string][];
  headers: Map<string, string>;
  body: Json | undefined;
}

type Kind = (operation: Operation, draft: Draft, tools: RequestTools) => Partial<Request> | undefined;

const KINDS: [weight: number, name: string, kind: Kind][] = [
  [45, "valid", valid],
  [14, "broken body", brokenBody],
  [4, "broken JSON", brokenJson],
  [3, "media type", mediaType],
  [7, "id", badId],
  [8, "query", badQuery],
  [5, "cursor", badCursor],
  [8, "header", badHeader],
  [6, "credential", badCredential],
  [2, "other environment", otherEnvironment],
];

/** Creates a valid request to the operation, or one with a single mistake. */
export function makeRequest(operation: Operation, tools: RequestTools): Request {
  const { seeded } = tools;
  for (;;) {
    const [name, kind] = choose(seeded);
    const draft = draftOf(operation, tools);
    const changed = kind(operation, draft, tools);
    if (changed === undefined) continue;
    const body = draft.body === undefined ? undefined : Buffer.from(JSON.stringify(draft.body));
    const query = draft.query.map(([key, value]) => `${encode(key)}=${encode(value)}`).join("&");
    return {
      operation,
      kind: name,
      target: draft.path + (query === "" ? "" : `?${query}`),
      headers: [...draft.headers],
      body,
      expected: "documented",
      ...changed,
    };
  }
}

/** Returns the request's bytes. */
export function toBytes({ operation, target, headers, body }: Request): Buffer {
  const length: [string, string][] = body === undefined ? [] : [["Content-Length", String(body.length)]];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${operation.method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  return body === undefined ? head : Buffer.concat([head, body]);
}

function choose(seeded: Seeded): [string, Kind] {
  let place = seeded.next() * KINDS.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, name, kind] of KINDS) {
    place -= weight;
    if (place < 0) return [name, kind];
  }
  return ["valid", valid];
}

function draftOf(
  operation: Operation,
  { values, seeded, credential, personHeaders, host, cursors, document }: RequestTools,
): Draft {
  let path = operation.path;
  const query: [string, string][] = [];
  const headers = new Map([
    ["Host", host],
    ...(operation.takesSession ? personHeaders : [["Authorization", `Bearer ${credential}`] as const]),
  ]);
  const known = cursors.filter((cursor) => cursor.operation === operation);
  const page = known.length > 0 && seeded.chance(0.4) ? seeded.pick(known) : undefined;
  if (page !== undefined) query.push(...page.query, ["cursor", page.cursor]);
  for (const parameter of operation.parameters) {
    if (parameter.in === "path")
      path = path.replace(`{${parameter.name}}`, encode(String(values.of(parameter.schema))));
    else if (parameter.in === "header") addHeader(parameter, headers, seeded);
    else if (page === undefined && parameter.name !== "cursor" && (parameter.required === true || seeded.chance(0.3))) {
      query.push([parameter.name, String(values.of(parameter.schema))]);
    }
  }
  const body = operation.body === undefined ? undefined : (values.of(document.resolve(operation.body)) as Json);
  if (body !== undefined)
    headers.set("Content-Type", seeded.chance(0.2) ? "application/json; charset=utf-8" : "application/json");
  return { path, query, headers, body };
}

function addHeader({ name, schema }: Parameter, headers: Map<string, string>, seeded: Seeded): void {
  if (!seeded.chance(0.25)) return;
  const example = String(schema.examples?.[0]);
  if (name !== "Idempotency-Key") headers.set(name, example);
  else headers.set(name, seeded.chance(0.3) ? `again-${seeded.integer(1, 5)}` : `key-${seeded.integer(0, 2 ** 31)}`);
}

function valid(): Partial<Request> {
  return { expected: "taken" };
}

function brokenBody(operation: Operation, draft: Draft, { document, seeded, breaks }: RequestTools) {
  if (operation.body === undefined || draft.body === undefined) return undefined;
  const body = breakBody(draft.body, operation.body, document, seeded);
  return {
    body: Buffer.from(JSON.stringify(body)),
    expected: breaks(operation, body) ? ("rejected" as const) : ("documented" as const),
  };
}

function brokenJson({ method }: Operation, draft: Draft, { seeded }: RequestTools): Partial<Request> | undefined {
  if (method === "GET") return undefined;
  draft.headers.set("Content-Type", "application/json");
  return { body: breakJson(JSON.stringify(draft.body ?? {}), seeded), expected: { code: "invalid_json" } };
}

function mediaType({ method }: Operation, draft: Draft, { seeded }: RequestTools): Partial<Request> | undefined {
  if (method === "GET") return undefined;
  const type = seeded.pick([
    "text/plain",
    "application/xml",
    "application/x-www-form-urlencoded",
    "application/json; charset=utf-16",
    "application/merge-patch+json",
    "multipart/form-data",
    "*/*",
    undefined,
  ]);
  if (type === undefined) draft.headers.delete("Content-Type");
  else draft.headers.set("Content-Type", type);
  return { body: Buffer.from(JSON.stringify(draft.body ?? { a: 1 })), expected: { code: "unsupported_media_type" } };
}

function badId({ path }: Operation, draft: Draft, { seeded, values }: RequestTools): Partial<Request> | undefined {
  if (!path.includes("{id}")) return undefined;
  const right = draft.path.split("/")[3]!;
  const ids = [
    right.slice(0, -1),
    `${right}0`,
    right.replace(/^[a-z]+_/, "zzz_"),
    right.replace(/_.*/, "_0000000000000000000000"),
    right.replace(/_.*/, "_zzzzzzzzzzzzzzzzzzzzzz"),
    right.toUpperCase(),
    encode(String(values.of({ type: "string", minLength: 1 }))),
    encode(seeded.pick(HOSTILE_TEXTS.filter((text) => text !== "" && text.isWellFormed() && text.length < 1000))),
    "a".repeat(7000),
    "%zz",
    "%ff",
    "..%2fevents",
  ];
  draft.path = path.replace("{id}", seeded.pick(ids));
  return { expected: "rejected" };
}

function badQuery(operation: Operation, draft: Draft, { seeded }: RequestTools): Partial<Request> {
  const known = operation.parameters.filter((parameter) => parameter.in === "query");
  const queries = [
    "unknown=1",
    "Limit=1",
    "limit[]=1",
    "=",
    "a=%zz",
    "a=%00",
    "a=%ff",
    `a=${"x".repeat(8200)}`,
    "__proto__=1",
    "constructor=x",
  ];
  for (const { name, schema } of known) queries.push(...wrongTexts(schema).map((text) => `${name}=${text}`));
  for (const { name, schema } of known) if (schema.type === "integer") queries.push(`${name}=1&${name}=1`);
  return { target: `${draft.path}?${seeded.pick(queries)}`, expected: "rejected" };
}

/** Returns values that violate the parameter's schema, as they appear in a URL. */
function wrongTexts({ type, enum: names, pattern, minimum = -Infinity, maximum = Infinity }: Schema): string[] {
  if (type === "integer") {
    const beyond = [minimum - 1, maximum + 1].filter(Number.isFinite).map(String);
    return ["", "ten", "1.5", "1e3", "0x10", "9".repeat(30), "%201", ...beyond];
  }
  if (names === undefined && pattern === undefined) return [];
  const fits = pattern === undefined ? () => false : (text: string) => new RegExp(pattern, "u").test(text);
  return ["", "nonsense", "%F0%9F%99%82", "*%00"].filter((text) => !fits(decodeURIComponent(text)));
}

function badCursor(
  operation: Operation,
  draft: Draft,
  { seeded, cursors }: RequestTools,
): Partial<Request> | undefined {
  if (!operation.parameters.some(({ name }) => name === "cursor")) return undefined;
  const own = cursors.filter((cursor) => cursor.operation === operation).map(({ cursor }) => cursor);
  const others = cursors.filter((cursor) => cursor.operation !== operation).map(({ cursor }) => cursor);
  const [first = "AAAA"] = own.length === 0 ? [] : [seeded.pick(own)];
  const middle = Math.floor(first.length / 2);
  const wrong = [
    "",
    "AAAA",
    "not base64 at all!",
    first.slice(0, 10),
    (first.startsWith("A") ? "B" : "A") + first.slice(1),
    `${first.slice(0, middle)}${first.slice(middle + 1)}`,
    `${first}AAAA`,
    "A".repeat(4000),
    ...(others.length === 0 ? [] : [seeded.pick(others)]),
  ];
  draft.query = [["cursor", seeded.pick(wrong)]];
  return { expected: { code: "invalid_cursor" } };
}

function badHeader(operation: Operation, draft: Draft, { seeded }: RequestTools): Partial<Request> {
  const headers = [...draft.headers];
  const changes: Partial<Request>[] = [
    ...["2019-01-01", "2026-13-45", "latest", "", "2026-11-01, 2026-11-01", "é"].map((version): Partial<Request> => ({
      headers: [...headers.filter(([name]) => name !== "Service-Version"), ["Service-Version", version]],
      expected: { code: "unsupported_version" },
    })),
    {
      headers: [...headers, ["Authorization", "Bearer a"], ["Authorization", "Bearer b"]],
      expected: { code: "invalid_header" },
    },
    { headers: [...headers, ["Content-Encoding", "gzip"]], expected: { code: "unsupported_media_type" } },
    { headers: [...headers, ["X-Large", "a".repeat(17_000)]], expected: { code: "headers_too_large" } },
    { headers: headers.filter(([name]) => name !== "Host"), expected: { code: "invalid_header" } },
    { headers: [...headers, ["Content-Length", "-1"]], body: undefined, expected: { code: "invalid_request" } },
    { headers: [...headers, ["Bad Name", "1"]], expected: { code: "invalid_request" } },
    { headers: [...headers, ["X-Bytes", "\u0001"]], expected: { code: "invalid_request" } },
    { headers: [...headers, ["Expect", "the-unexpected"]] },
    { headers: [...headers, ["Accept", "text/html"], ["Accept-Language", "\u00ff"], ["X-Forwarded-For", "::1"]] },
  ];
  if (operation.method === "POST") {
    for (const key of ["", '""', "a b", "k".repeat(256), "\u00e9", '"unfinished key']) {
      changes.push({
        headers: [...headers.filter(([name]) => name !== "Idempotency-Key"), ["Idempotency-Key", key]],
        expected: "rejected",
      });
    }
  }
  return seeded.pick(changes);
}

function badCredential(_operation: Operation, draft: Draft, { seeded, credential }: RequestTools): Partial<Request> {
  const wrong = [
    undefined,
    "",
    "Bearer",
    `Basic ${Buffer.from(`${credential}:`).toString("base64")}`,
    `Bearer ${credential.slice(0, -1)}`,
    `Bearer ${credential} ${credential}`,
    `Bearer ${credential.slice(0, -1)}${credential.endsWith("0") ? "1" : "0"}`,
    `Bearer ${credential.toLowerCase()}`,
    credential,
    "Bearer \u00ff\u00fe",
    `Bearer ${"a".repeat(5000)}`,
    "Bearer at_nothing",
    "Bearer null",
  ];
  const chosen = seeded.pick(wrong);
  draft.headers.delete("Cookie");
  if (chosen === undefined) draft.headers.delete("Authorization");
  else draft.headers.set("Authorization", chosen);
  return { expected: { code: chosen === undefined || chosen === "" ? "missing_credential" : "invalid_credential" } };
}

function otherEnvironment(_operation: Operation, draft: Draft, { otherCredential }: RequestTools): Partial<Request> {
  draft.headers.set("Authorization", `Bearer ${otherCredential}`);
  return { expected: "documented" };
}

/** Includes invalid Unicode, which can only be sent inside JSON. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
