import { SCHEMES, type Scheme } from "../webhooks/schemes.ts";
import type { IdGenerator } from "../contract/ids.ts";

/** The contents of one delivery. */
export interface Sample {
  id: string;
  /** Sent as JSON, or as it is if it consists of bytes. */
  payload: unknown;
}

/** The payload cannot be a template for deliveries of the scheme. */
export class TemplateError extends Error {
  override name = "TemplateError";
}

type JsonObject = Readonly<Record<string, unknown>>;

/** A payload of which each delivery is a copy, with an ID of its own if the scheme has a place for one. */
export class Template {
  readonly #scheme: Scheme;
  readonly #payload: unknown;
  readonly #ids: IdGenerator;
  #numbers = 0;

  /** Throws TemplateError if the ID has no place in the payload. */
  constructor(scheme: Scheme, bytes: Uint8Array, ids: IdGenerator) {
    this.#scheme = scheme;
    this.#payload = parsed(bytes);
    this.#ids = ids;
    const { path } = scheme.id ?? {};
    if (path === undefined) return;
    if (this.#payload === bytes) {
      throw new TemplateError(`is not JSON in UTF-8, but ${scheme.name} has the ID of a delivery in the body: ${path}`);
    }
    const found = path.split(".").reduce<unknown>(memberOf, this.#payload);
    if (typeof found !== "string" && typeof found !== "number") {
      throw new TemplateError(`has no string or number at ${path}, where ${scheme.name} has the ID of a delivery`);
    }
  }

  /** Returns a copy with an ID that no other one has; `at` is Unix milliseconds. */
  sample(at: number): Sample {
    const id = this.#ids("event", at);
    const { path } = this.#scheme.id ?? {};
    if (path === undefined) return { id, payload: this.#payload };
    const number = at * 1000 + this.#numbers++;
    return { id, payload: withId(this.#payload, path.split("."), { text: id, number }) };
  }
}

/** Returns the bytes themselves if they are not JSON in UTF-8. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return bytes;
  }
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as JsonObject)[key]
    : undefined;
}

/** Returns a copy in which the ID at the path is another one of its type. */
function withId(value: unknown, [key, ...rest]: readonly string[], id: { text: string; number: number }): unknown {
  if (key === undefined) return typeof value === "number" ? id.number : id.text;
  const member = withId(memberOf(value, key), rest, id);
  return Array.isArray(value) ? value.with(Number(key), member) : { ...(value as JsonObject), [key]: member };
}

/** Returns the bytes of a sample. */
export function bodyOf({ payload }: Sample): string | Uint8Array {
  return payload instanceof Uint8Array ? payload : JSON.stringify(payload);
}

/** Returns true for JSON with members, to which others can be added. */
export function isJsonObject(payload: unknown): payload is JsonObject {
  return typeof payload === "object" && payload !== null && !Array.isArray(payload) && !(payload instanceof Uint8Array);
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
