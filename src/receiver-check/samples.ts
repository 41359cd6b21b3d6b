import { isUtf8 } from "node:buffer";
import { randomInt, randomUUID } from "node:crypto";
import type { IdGenerator } from "../contract/ids.ts";
import { parseJson, valueAt } from "../contract/json.ts";
import { kindsWith, type KindWith, resourceOf } from "../contract/resources.ts";
import { replaceTokens } from "../contract/rewrite-json.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import { type Scheme, SCHEMES } from "../webhooks/schemes.ts";

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

/**
 * A payload of which each delivery is a copy, byte for byte but for an ID of its own if the scheme has a place for one.
 */
export class Template {
  /** False if deliveries have no ID: a receiver cannot recognize a repeated one. */
  readonly hasId: boolean;
  readonly #scheme: Scheme;
  readonly #body: string | Uint8Array;
  readonly #ids: IdGenerator;
  readonly #place: Place | undefined;
  readonly #typePlace: Place | undefined;
  #numbers = 0;

  /** Throws TemplateError if the ID has no place in the payload. */
  constructor(scheme: Scheme, bytes: Uint8Array, ids: IdGenerator) {
    this.#scheme = scheme;
    this.#body = textIn(bytes) ?? bytes;
    this.#ids = ids;
    this.#place = scheme.id?.path === undefined ? undefined : placeOfId(scheme.id.path, this.#body, scheme);
    this.hasId = scheme.id?.header !== undefined || this.#place !== undefined;
    this.#typePlace = typeHeaderOf(scheme) === undefined ? placeAt(typePathOf(scheme), this.#body) : undefined;
  }

  /** The type of the event, if the body contains it. */
  get type(): string | undefined {
    if (this.#typePlace === undefined || typeof this.#body !== "string") return undefined;
    return String(JSON.parse(this.#body.slice(this.#typePlace.start, this.#typePlace.end)));
  }

  /** Returns a copy with another type, if the body contains one; `at` is Unix milliseconds. */
  sampleOfType(type: string, at: number): Sample {
    if (this.#typePlace === undefined || typeof this.#body !== "string") return this.sample(at);
    const { start, end } = this.#typePlace;
    const body = this.#body.slice(0, start) + JSON.stringify(type) + this.#body.slice(end);
    const other = new Template(this.#scheme, Buffer.from(body), this.#ids);
    other.#numbers = this.#numbers++;
    return other.sample(at);
  }

  /**
   * Returns a copy with an ID that no other one has; `at` is Unix milliseconds. With `otherObject`, it is about an object
   * that no other one is about, as far as its ID is known by its name.
   */
  sample(at: number, { otherObject = false }: { otherObject?: boolean } = {}): Sample {
    const body = this.#body;
    const about = (json: string): string => (otherObject ? withOtherIds(json) : json);
    if (this.#place === undefined || typeof body !== "string") {
      const id = newId(this.#scheme, this.#ids, at);
      return { id, body: isJsonObject(body) ? about(body) : body };
    }
    const { start, end, isNumber } = this.#place;
    const id = isNumber ? at * 1000 + this.#numbers++ : newId(this.#scheme, this.#ids, at);
    return { id: String(id), body: about(body.slice(0, start)) + JSON.stringify(id) + about(body.slice(end)) };
  }
}

/** Where a value is in JSON. */
interface Place {
  start: number;
  end: number;
  isNumber: boolean;
}

/** Returns undefined for a form. Throws TemplateError unless any other body has a string or number at the path. */
function placeOfId(path: string, body: string | Uint8Array, { name }: Scheme): Place | undefined {
  if (isForm(body)) return undefined;
  if (typeof body !== "string") {
    throw new TemplateError(`is not JSON in UTF-8, but ${name} has the ID of a delivery in the body: ${path}`);
  }
  const place = placeAt(path, body);
  if (place !== undefined) return place;
  throw new TemplateError(`has no string or number at ${path}, where ${name} has the ID of a delivery`);
}

/** Returns the place of the string or number at a path; undefined if the body is not JSON or has none there. */
function placeAt(path: string, body: string | Uint8Array): Place | undefined {
  if (typeof body !== "string" || isForm(body)) return undefined;
  const places: Place[] = [];
  const mark = randomUUID();
  const content = parseJson(
    replaceTokens(body, (token, start) => {
      const end = start + token.length;
      NAME_END.lastIndex = end;
      if (NAME_END.test(body)) return token;
      places.push({ start, end, isNumber: !token.startsWith('"') });
      return `"${mark}${places.length - 1}"`;
    }),
  );
  const found = valueAt(content, path);
  return typeof found === "string" ? places[Number(found.slice(mark.length))] : undefined;
}

/** Returns the header with the type of an event, if the provider has one. */
export function typeHeaderOf(scheme: Scheme): string | undefined {
  return scheme === SCHEMES.github || scheme === SCHEMES.shopify ? Object.keys(scheme.headers ?? {})[0] : undefined;
}

/** Returns where other providers have the type of an event in the body. */
export function typePathOf(scheme: Scheme): string {
  return scheme === SCHEMES.slack ? "event.type" : "type";
}

/** Returns a type that no receiver knows, in the form of another one. */
export function unknownTypeLike(type: string): string {
  return type.replace(/[^./]*$/, "reviewed_by_a_later_version");
}

/** The name of a member has a colon after it. */
const NAME_END = /\s*:/y;

/** Members that have the ID of an object at most providers, with a string or a whole number. */
const ID_MEMBER = /("(?:id|sha|after|ts|client_msg_id)"\s*:\s*)(?:"([^"\\]+)"|(\d+)(?![\d.eE]))/g;

/** Returns JSON whose members with IDs of objects have others of the same form. */
function withOtherIds(json: string): string {
  const renew = (value: string): string => value.replace(/[\dA-Za-z]{0,6}$/, String(randomInt(100_000, 1_000_000)));
  return json.replaceAll(ID_MEMBER, (_member, name: string, text: string | undefined, number: string | undefined) =>
    text === undefined ? name + renew(number!) : `${name}"${renew(text)}"`,
  );
}

/** Returns the ID that a body has where the scheme expects one. */
export function idIn(body: Uint8Array, { id }: Scheme): string | undefined {
  if (id?.path === undefined) return undefined;
  const found = valueAt(parseJson(new TextDecoder().decode(body)), id.path);
  return typeof found === "string" || typeof found === "number" ? String(found) : undefined;
}

/** Returns JSON as it is, a form without the line break of its file, or undefined for anything else. */
function textIn(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = new TextDecoder().decode(bytes);
  if (parseJson(text) !== undefined) return text;
  return FORM.test(text) ? text.trimEnd() : undefined;
}

/** Returns true for JSON with members, to which others can be added. */
export function isJsonObject(body: string | Uint8Array): body is string {
  return typeof body === "string" && body.trimStart().startsWith("{");
}

const FORM = /^[^\s"=&]+=[^\s"=&]*(?:&[^\s"=&]+=[^\s"=&]*)*(?:\r?\n)?$/;

/** Returns true for the fields of a form, to which others can be added. */
export function isForm(body: string | Uint8Array): boolean {
  return typeof body === "string" && FORM.test(body);
}

/** The size in bytes of payloads of GitHub, the largest of any provider. */
export const LARGEST_PAYLOAD = 25 * 1024 * 1024;

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
  /** Time limit for a response, instead of the scheme's. */
  timeoutMs?: number | undefined;
}

/** Returns true if deliveries are like those of the platform, whose rules are known. */
export function isPlatform({ scheme, template }: Provider): boolean {
  return scheme === SCHEMES.service && template === undefined;
}

/** Returns the headers that every delivery of a scheme has besides the signature's. */
export function exampleHeaders({ headers = {} }: Scheme, id: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll("{id}", id)]));
}

/** An event as the platform would send it. Its type may be one that does not exist. */
export interface SampleEvent {
  id: string;
  object: "event";
  type: string;
  created: string;
  livemode: false;
  data: { object: Record<string, unknown> };
  request: { id: string };
}

/** Returns an event of a type; `at` is Unix milliseconds. */
export function sampleEvent(type: string, ids: IdGenerator, at: number): SampleEvent {
  const resource = resourceNameOf(type);
  const kind = kindsWith("prefix").find((known) => known === resource) ?? "order";
  const created = formatTimestamp(at);
  return {
    id: ids("event", at),
    object: "event",
    type,
    created,
    livemode: false,
    data: { object: { id: ids(kind, at), object: resource, ...sampleFields(kind, type), livemode: false, created } },
    request: { id: ids("request", at) },
  };
}

function sampleFields(kind: KindWith<"prefix">, type: string): Record<string, unknown> {
  const { fields = {}, statuses = {} } = resourceOf(kind);
  const names = Object.keys(statuses);
  const status = names.find((name) => type.endsWith(`.${name}`)) ?? names[0];
  if (kind === "webhook_endpoint") return { events: ["*"], description: null, status };
  const members = Object.entries(fields).map(([name, field]) => {
    const isIncluded = field.required || field.type === "text";
    return [name, field.type === "status" ? status : isIncluded ? field.examples?.[0] : null];
  });
  return { ...Object.fromEntries(members), metadata: {} };
}

/** Returns the first event type of the type's resource, which precedes all others where order is kept. */
export function firstTypeOf(type: string): string {
  return type.startsWith("webhook_endpoint.") ? type : `${resourceNameOf(type)}.created`;
}

function resourceNameOf(type: string): string {
  return type.slice(0, type.indexOf("."));
}
