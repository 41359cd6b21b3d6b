import { LIMITS } from "./limits.ts";
import { parseTimestamp } from "./timestamps.ts";

/**
 * Everything about a type of field: for the API, the database, the CLI and the dashboard, which sends it to browsers.
 */
export interface FieldType {
  /** Keywords of its JSON Schema, besides the values of a choice and the kind of an ID. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Keywords that limit requests, which responses do not repeat. */
  readonly limits?: Readonly<Record<string, unknown>>;
  /** The check of its `format`, unless the platform's `http/formats.ts` has it. */
  readonly format?: FormatRule;
  /** What the command rejects at once, if it is certain that the platform rejects it, too (default: its `format`). */
  readonly flagCheck?: Pick<FormatRule, "accepts" | "expected">;
  /**
   * The column's type, and how it holds the value: a time in milliseconds, a boolean as 0 or 1, lists and maps as JSON.
   */
  readonly stored: "text" | "id" | "integer" | "time" | "boolean" | "json";
  /** What help shows for the flag's value (default: the field's name). */
  readonly placeholder?: string;
  /** How the command reads the flag's value (default: as it is). */
  readonly flagParser?: "amount" | "whole number" | "duration" | "ID" | "upper case";
  /** The input in forms: one of the dashboard's own, or a type of HTML (default: text). */
  readonly input?: "amount" | "checkbox" | "date" | "datetime-local" | "map" | "number";
  /** True if forms begin with the example. */
  readonly isPreset?: true;
  /** Returns a variant of an example, for each object of `trigger` with a unique field. */
  readonly vary?: (example: string, unique: string) => string;
}

/** A format of JSON Schema. */
export interface FormatRule {
  accepts: (text: string) => boolean;
  /** The expectation in error messages. */
  expected: string;
  /** The closest keywords of plain JSON Schema, for the OpenAPI document. */
  keywords: Record<string, unknown>;
}

export const FIELD_TYPES = {
  text: {
    schema: { type: "string" },
    limits: { minLength: 1, maxLength: LIMITS.nameLength },
    stored: "text",
    placeholder: "text",
    vary: (example, unique) => `${example} ${unique}`,
  },
  note: {
    schema: { type: "string" },
    limits: { maxLength: LIMITS.descriptionLength },
    stored: "text",
    placeholder: "text",
  },
  email: {
    schema: { type: "string", format: "email" },
    limits: { maxLength: LIMITS.emailLength },
    flagCheck: {
      accepts: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
      expected: "an email address such as ada@example.com",
    },
    stored: "text",
    placeholder: "address",
    vary: (example, unique) => example.replace("@", `.${unique}@`),
  },
  phone: { schema: { type: "string", format: "phone" }, stored: "text", placeholder: "number" },
  url: {
    schema: { type: "string", format: "uri" },
    limits: { format: "endpoint-url", maxLength: LIMITS.endpointUrlLength },
    flagCheck: {
      accepts: (text) => /^https?:\/*[^/\s]/i.test(text),
      expected: "a URL that begins with https://, such as https://example.com/webhooks",
    },
    stored: "text",
    placeholder: "url",
    vary: (example, unique) => `${example}/${unique}`,
  },
  amount: {
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    stored: "integer",
    placeholder: "number",
    flagParser: "amount",
    input: "amount",
  },
  number: {
    schema: { type: "integer" },
    limits: { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    stored: "integer",
    placeholder: "number",
    flagParser: "whole number",
    input: "number",
  },
  currency: {
    schema: { type: "string", format: "currency" },
    flagCheck: { accepts: (text) => /^[a-z]{3}$/i.test(text), expected: "a currency code such as EUR" },
    stored: "text",
    placeholder: "code",
    flagParser: "upper case",
    isPreset: true,
  },
  status: { schema: {}, stored: "text" },
  choice: { schema: {}, stored: "text" },
  id: { schema: { type: "string" }, stored: "id", placeholder: "id", flagParser: "ID" },
  code: {
    schema: { type: "string" },
    limits: { pattern: "^[a-z][a-z0-9_]{0,63}$" },
    stored: "text",
    placeholder: "code",
    vary: (example, unique) => `${example}_${unique}`,
  },
  date: {
    schema: { type: "string", format: "date" },
    format: {
      accepts: (text) => parseTimestamp(`${text}T00:00:00Z`) !== undefined,
      expected: "a date of the form YYYY-MM-DD",
      keywords: { format: "date", examples: ["2026-11-01"] },
    },
    stored: "text",
    placeholder: "date",
    input: "date",
  },
  boolean: {
    schema: { type: "boolean", examples: [false] },
    limits: { default: false, examples: undefined },
    stored: "boolean",
    input: "checkbox",
  },
  expiry: {
    // In the future: clients generate requests from examples.
    schema: {
      type: "string",
      format: "timestamp",
      description: "YYYY-MM-DDTHH:MM:SSZ, UTC",
      examples: ["2100-01-01T00:00:00Z"],
    },
    stored: "time",
    placeholder: "duration",
    flagParser: "duration",
    input: "datetime-local",
  },
  /** Text that becomes the value of a header. */
  header: {
    schema: { type: "string", format: "header-value" },
    limits: { minLength: 1, maxLength: LIMITS.endpointHeaderValueLength },
    stored: "text",
    placeholder: "value",
  },
  list: { schema: { type: "array" }, stored: "json" },
  /** Texts by name, which updates merge. */
  map: { schema: { type: "object" }, stored: "json", input: "map" },
} as const satisfies Readonly<Record<string, FieldType>>;

/** The items of a list: keywords of their JSON Schema, and of the list in requests. */
interface ItemType {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Limits of an item in requests. */
  readonly itemLimits?: Readonly<Record<string, unknown>>;
  readonly limits: Readonly<Record<string, unknown>>;
}

export const ITEM_TYPES = {
  subscription: {
    schema: { type: "string", format: "subscription" },
    limits: { minItems: 1, maxItems: LIMITS.endpointSubscriptions, uniqueItems: true },
  },
  scope: { schema: {}, limits: { minItems: 1, uniqueItems: true } },
  cidr: { schema: { type: "string", format: "cidr" }, limits: { maxItems: 100 } },
  "redirect-uri": {
    schema: { type: "string", format: "redirect-uri" },
    itemLimits: { maxLength: LIMITS.endpointUrlLength },
    limits: { minItems: 1, maxItems: 20, uniqueItems: true },
  },
} as const satisfies Readonly<Record<string, ItemType>>;

/** What a map holds: the schema of a value in requests, and the limits of the map. */
interface PairType {
  readonly value: Readonly<Record<string, unknown>> & { readonly maxLength: number };
  readonly maxPairs: number;
  readonly maxNameLength: number;
  /** What help shows for the flag's value, and what is between a name and its value there. */
  readonly placeholder: string;
  readonly separator: string;
}

const PAIR_TYPES = {
  text: {
    value: { type: "string", maxLength: LIMITS.metadataValueLength },
    maxPairs: LIMITS.metadataKeys,
    maxNameLength: LIMITS.metadataKeyLength,
    placeholder: "key=value",
    separator: "=",
  },
  /** Names are compared ignoring case. */
  header: {
    value: { ...FIELD_TYPES.header.schema, maxLength: LIMITS.endpointHeaderValueLength },
    maxPairs: LIMITS.endpointHeaders,
    maxNameLength: LIMITS.endpointHeaderNameLength,
    placeholder: "header",
    separator: ": ",
  },
} as const satisfies Readonly<Record<string, PairType>>;

export type FieldTypeName = keyof typeof FIELD_TYPES;

/** Returns the entry of a list's items without the literal types. */
export function itemTypeOf(name: string): ItemType {
  return ITEM_TYPES[name as keyof typeof ITEM_TYPES];
}

/** Returns the entry of a map's pairs without the literal types. */
export function pairTypeOf(name = "text"): PairType {
  return PAIR_TYPES[name as keyof typeof PAIR_TYPES];
}

/** Returns the entry of a type without the literal types. */
export function typeOf(name: FieldTypeName): FieldType {
  return FIELD_TYPES[name];
}
