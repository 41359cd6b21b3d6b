import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { IdGenerator } from "../contract/ids.ts";
import { parseJson } from "../contract/parse-json.ts";
import { rewriteJson } from "../contract/rewrite-json.ts";
import { valueAt } from "../contract/value-at.ts";
import { SCHEMES, type Scheme } from "../webhooks/schemes.ts";

/** The contents of one delivery. */
export interface Sample {
  id: string;
  /** JSON as text, or any bytes. */
  body: string | Uint8Array;
}

/** Returns a new ID of the form that the provider's have; `at` is Unix milliseconds. */
export function newId({ id }: Scheme, ids: IdGenerator, at: number): string {
  return id?.prefix === undefined ? randomUUID() : ids("event", at).replace(/^evt_/, id.prefix);
}

/** The payload cannot be a template for deliveries of the scheme. */
export class TemplateError extends Error {
  override name = "TemplateError";
}

/** A payload of which each delivery is a copy, with an ID of its own if the scheme has a place for one. */
export class Template {
  readonly #scheme: Scheme;
  readonly #body: string | Uint8Array;
  readonly #ids: IdGenerator;
  readonly #hasNumber: boolean;
  #numbers = 0;

  /** Throws TemplateError if the ID has no place in the payload. */
  constructor(scheme: Scheme, bytes: Uint8Array, ids: IdGenerator) {
    this.#scheme = scheme;
    this.#body = jsonIn(bytes) ?? bytes;
    this.#ids = ids;
    const { path } = scheme.id ?? {};
    const found = path === undefined ? undefined : idAt(path, this.#body, scheme);
    this.#hasNumber = typeof found === "number";
  }

  /** Returns a copy with an ID that no other one has; `at` is Unix milliseconds. */
  sample(at: number): Sample {
    const { path } = this.#scheme.id ?? {};
    const body = this.#body;
    if (path === undefined || typeof body !== "string") return { id: newId(this.#scheme, this.#ids, at), body };
    const id = this.#hasNumber ? at * 1000 + this.#numbers++ : newId(this.#scheme, this.#ids, at);
    return { id: String(id), body: rewriteJson(body, (value) => withId(value, path.split("."), id)) };
  }
}

/** Throws TemplateError unless the body has a string or number at the path. */
function idAt(path: string, body: string | Uint8Array, { name }: Scheme): unknown {
  if (typeof body !== "string") {
    throw new TemplateError(`is not JSON in UTF-8, but ${name} has the ID of a delivery in the body: ${path}`);
  }
  const found = valueAt(JSON.parse(body), path);
  if (typeof found === "string" || typeof found === "number") return found;
  throw new TemplateError(`has no string or number at ${path}, where ${name} has the ID of a delivery`);
}

/** Returns the ID that a body has where the scheme expects one. */
export function idIn(body: Uint8Array, { id }: Scheme): string | undefined {
  if (id?.path === undefined) return undefined;
  const found = valueAt(parseJson(new TextDecoder().decode(body)), id.path);
  return typeof found === "string" || typeof found === "number" ? String(found) : undefined;
}

/** Returns the JSON without spaces and with its exact numbers, or undefined if the bytes are not JSON in UTF-8. */
function jsonIn(bytes: Uint8Array): string | undefined {
  try {
    return rewriteJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), (value) => value);
  } catch {
    return undefined;
  }
}

/** Returns a copy with this ID at the path. */
function withId(value: unknown, [key, ...rest]: readonly string[], id: string | number): unknown {
  if (key === undefined) return id;
  const member = withId(valueAt(value, key), rest, id);
  return Array.isArray(value) ? value.with(Number(key), member) : { ...(value as object), [key]: member };
}

/** Returns true for JSON with members, to which others can be added. */
export function isJsonObject(body: string | Uint8Array): body is string {
  return typeof body === "string" && body.startsWith("{");
}

const FORM = /^[^\s=&]+=[^\s=&]*(?:&[^\s=&]+=[^\s=&]*)*$/;

/** Returns the media type that a body appears to have. */
export function mediaTypeOf(body: Uint8Array): string {
  if (!isUtf8(body)) return "application/octet-stream";
  const text = new TextDecoder().decode(body);
  if (parseJson(text) !== undefined) return "application/json";
  return FORM.test(text) ? "application/x-www-form-urlencoded" : "text/plain; charset=utf-8";
}

/** What the receiver under test gets. */
export interface Provider {
  scheme: Scheme;
  /** The payload of other providers' deliveries; undefined for events of the platform. */
  template: Template | undefined;
}

/** Returns true if deliveries are like those of the platform, whose rules are known. */
export function isPlatform({ scheme, template }: Provider): boolean {
  return scheme === SCHEMES.service && template === undefined;
}

/** Returns the headers that every delivery of a scheme has besides the signature's. */
export function exampleHeaders({ headers = {} }: Scheme, id: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll("{id}", id)]));
}
