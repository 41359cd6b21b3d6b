import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import { Format } from "typebox/format";
import { EVENT_TYPES, isEventType, SUBSCRIPTION_WILDCARDS, typesOfSubscription } from "../../contract/event-types.ts";
import { FIELD_TYPES, type FormatRule, typeOf, type FieldTypeName } from "../../contract/field-types.ts";
import { ID_PREFIXES, type IdKind, isId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { parseTimestamp } from "../../contract/timestamps.ts";
import { nounOf, withArticle } from "../../contract/resources.ts";
import { isRelatable, RELATABLE } from "../domain/events.ts";
import { parseRange } from "../../network/addresses.ts";
import { problemOfRedirectUri } from "../domain/oauth-apps.ts";

/** ISO 4217, in uppercase. */
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN_LABEL = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** Segments are `{id}` or text; `*` is the last character. */
const FAULT_PATH = "^/v1/(([^*?#\\s{}/]+|\\{id\\})/)*([^*?#\\s{}/]*|\\{id\\})\\*?$";
const SNAPSHOT_NAME = `^[A-Za-z0-9][A-Za-z0-9._-]{0,${LIMITS.snapshotNameLength - 1}}$`;

const FORMATS: Record<string, FormatRule> = {
  email: {
    accepts: isEmail,
    expected: "an email address such as ada@example.com, in ASCII (write an international domain as xn--…)",
    keywords: { format: "email", examples: ["ada@example.com"] },
  },
  phone: {
    accepts: (value) => /^\+[1-9]\d{4,14}$/.test(value) && parsePhoneNumberFromString(value)?.isPossible() === true,
    expected: "an E.164 phone number, + and digits only, such as +442071838750",
    keywords: { pattern: "^\\+[1-9]\\d{4,14}$", examples: ["+442071838750"] },
  },
  currency: {
    accepts: (value) => CURRENCIES.has(value),
    expected: "one of the ISO 4217 currency codes in capitals, such as EUR",
    keywords: { enum: [...CURRENCIES], examples: ["EUR"] },
  },
  timestamp: {
    accepts: (value) => parseTimestamp(value) !== undefined,
    expected: "a UTC time of the form YYYY-MM-DDTHH:MM:SSZ",
    keywords: {
      format: "date-time",
      pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ$",
      examples: ["2026-11-01T12:00:00Z"],
    },
  },
  cidr: {
    accepts: (value) => parseRange(value) !== undefined,
    expected: "an address range in CIDR form, such as 203.0.113.0/24",
    keywords: { examples: ["203.0.113.0/24"] },
  },
  "redirect-uri": {
    accepts: (value) => problemOfRedirectUri(value) === undefined,
    expected: "an https URL, or http to this machine, such as https://app.example.com/callback",
    keywords: { format: "uri", examples: ["https://app.example.com/callback"] },
  },
  // Why a URL is rejected depends on the environment, so the rules of endpoints check it.
  "endpoint-url": {
    accepts: () => true,
    expected: "an https URL",
    keywords: { format: "uri", pattern: "^https?://[^\\s\\\\/?#@]+([/?][^\\s\\\\#]*)?$" },
  },
  // Printable ASCII, with spaces and tabs inside (RFC 9110 5.5). An empty value stands for none.
  "header-value": {
    accepts: (value) => /^([!-~]([\t -~]*[!-~])?)?$/.test(value),
    expected: "a header value: printable ASCII characters, neither beginning nor ending with a space",
    keywords: { pattern: "^([!-~]([\\t -~]*[!-~])?)?$", examples: ["3f1d0c"] },
  },
  "fault-path": {
    accepts: (value) => new RegExp(FAULT_PATH).test(value),
    expected:
      "a path such as /v1/orders, /v1/orders/{id} or /v1/orders*: {id} between slashes, * only at the end, and no query",
    keywords: { pattern: FAULT_PATH },
  },
  "snapshot-name": {
    accepts: (value) => new RegExp(SNAPSHOT_NAME).test(value),
    expected: `a name of 1 to ${LIMITS.snapshotNameLength} letters, digits, dots, hyphens and underscores that starts with a letter or digit`,
    keywords: { pattern: SNAPSHOT_NAME },
  },
  "related-id": {
    accepts: isRelatable,
    expected: `the ID of a resource that events are about: ${RELATABLE.map(nounOf).join(", ")}`,
    keywords: {
      pattern: `^(${RELATABLE.map((kind) => ID_PREFIXES[kind as IdKind]).join("|")})[0-9A-Za-z]{22}$`,
      examples: [`${ID_PREFIXES.order}4Vf8aTqz0bKm2sNw9XyRcd`],
    },
  },
  "event-type": { accepts: isEventType, expected: "an event type", keywords: { enum: EVENT_TYPES } },
  subscription: {
    accepts: (value) => typesOfSubscription(value).length > 0,
    expected: "an event type, a wildcard such as order.*, or *",
    keywords: { enum: [...EVENT_TYPES, ...SUBSCRIPTION_WILDCARDS] },
  },
};
for (const name of Object.keys(FIELD_TYPES) as FieldTypeName[]) {
  const { format, schema } = typeOf(name);
  if (format !== undefined) FORMATS[String(schema["format"])] = format;
}
for (const kind of Object.keys(ID_PREFIXES) as IdKind[]) {
  FORMATS[`${kind}-id`] = {
    accepts: (value) => isId(kind, value),
    expected: `the ID of ${withArticle(kind.replaceAll("_", " "))} (${ID_PREFIXES[kind]} and 22 letters or digits)`,
    keywords: {
      pattern: `^${ID_PREFIXES[kind]}[0-9A-Za-z]{22}$`,
      examples: [`${ID_PREFIXES[kind]}4Vf8aTqz0bKm2sNw9XyRcd`],
    },
  };
}

const MAX_LENGTH = LIMITS.endpointHeaderValueLength;

/** Registers the formats with the validators. Called once, before any schema is compiled. */
export function registerFormats(): void {
  for (const [name, { accepts }] of Object.entries(FORMATS)) {
    Format.Set(name, (value) => value.length <= MAX_LENGTH && accepts(value));
  }
}

/** Returns a description of valid values, for error messages. */
export function expectedOfFormat(name: string): string {
  return FORMATS[name]?.expected ?? `a value of the format ${name}`;
}

/** Returns the format as keywords of JSON Schema; undefined if it is a standard format. */
export function keywordsOfFormat(name: string): Record<string, unknown> | undefined {
  return FORMATS[name]?.keywords;
}

/** Returns true for an address that mail can be sent to. */
export function isEmail(value: string): boolean {
  const at = value.lastIndexOf("@");
  const labels = value.slice(at + 1).split(".");
  return (
    at > 0 &&
    at <= 64 &&
    value.length - at - 1 <= 255 &&
    labels.length >= 2 &&
    LOCAL_PART.test(value.slice(0, at)) &&
    labels.every((label) => DOMAIN_LABEL.test(label)) &&
    /[A-Za-z]/.test(labels.at(-1)!)
  );
}
