import { computeMac, fromBase64, fromHex, toBase64, toHex } from "./mac.ts";
import { assertScheme, type Scheme, signedParts } from "./scheme.ts";
import {
  assertFresh,
  assertNow,
  assertTolerance,
  commonMistake,
  currentTime,
  isAnyEqual,
  listSecrets,
  type Payload,
  rawPayload,
  type Secrets,
  timestampText,
} from "./signature.ts";
import { SignatureError } from "./signature-error.ts";
import { headerText, MAX_SIGNATURES, quote, TIMESTAMP_PATTERN, trimSpaces } from "./signature-header.ts";

export type { Scheme } from "./scheme.ts";
export type { Payload, Secrets } from "./signature.ts";

const STANDARD = {
  signed: "{id}.{timestamp}.{body}",
  timeout: 15,
  secret: { encoding: "base64", prefix: "whsec_" },
} as const;

const TOLERANCE_SECONDS = 300;

/**
 * The schemes of this platform, of two families of providers, and of four providers, by the name that `--scheme` takes.
 * Their sources, for the signature and, where it is another page, for the timeout (Stripe publishes none):
 * - `standard`: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * - `svix`: https://docs.svix.com/receiving/verifying-payloads/how-manual, https://docs.svix.com/retries
 * - `stripe`: https://docs.stripe.com/webhooks/signature
 * - `github`: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries,
 *   https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks
 * - `shopify`: https://shopify.dev/docs/apps/build/webhooks/verify-deliveries,
 *   https://shopify.dev/docs/apps/build/webhooks/subscribe/https
 * - `slack`: https://docs.slack.dev/authentication/verifying-requests-from-slack, https://docs.slack.dev/apis/events-api
 */
export const SCHEMES = {
  service: {
    name: "Service",
    signed: "{timestamp}.{body}",
    signature: { header: "Service-Signature", prefix: "v1=", encoding: "hex", separator: "," },
    timestamp: { prefix: "t=", tolerance: TOLERANCE_SECONDS },
    id: { path: "id", prefix: "evt_" },
  },
  standard: {
    ...STANDARD,
    name: "Standard Webhooks",
    signature: { header: "webhook-signature", prefix: "v1,", encoding: "base64", separator: " " },
    timestamp: { header: "webhook-timestamp", tolerance: TOLERANCE_SECONDS },
    id: { header: "webhook-id", prefix: "msg_" },
    docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
  },
  svix: {
    ...STANDARD,
    name: "Svix",
    signature: { header: "svix-signature", prefix: "v1,", encoding: "base64", separator: " " },
    timestamp: { header: "svix-timestamp", tolerance: TOLERANCE_SECONDS },
    id: { header: "svix-id", prefix: "msg_" },
    docs: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
  },
  stripe: {
    name: "Stripe",
    signed: "{timestamp}.{body}",
    signature: { header: "Stripe-Signature", prefix: "v1=", encoding: "hex", separator: "," },
    timestamp: { prefix: "t=", tolerance: TOLERANCE_SECONDS, future: true },
    id: { path: "id", prefix: "evt_" },
    docs: "https://docs.stripe.com/webhooks/signature",
  },
  github: {
    name: "GitHub",
    signed: "{body}",
    signature: { header: "X-Hub-Signature-256", prefix: "sha256=", encoding: "hex" },
    id: { header: "X-GitHub-Delivery" },
    headers: { "X-GitHub-Event": "push" },
    docs: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
  },
  shopify: {
    name: "Shopify",
    signed: "{body}",
    signature: { header: "X-Shopify-Hmac-SHA256", encoding: "base64" },
    id: { header: "X-Shopify-Webhook-Id" },
    timeout: 5,
    headers: {
      "X-Shopify-Topic": "orders/create",
      "X-Shopify-Shop-Domain": "example.myshopify.com",
      "X-Shopify-API-Version": "2026-10",
      "X-Shopify-Event-Id": "{id}",
    },
    docs: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
  },
  slack: {
    name: "Slack",
    signed: "v0:{timestamp}:{body}",
    signature: { header: "X-Slack-Signature", prefix: "v0=", encoding: "hex" },
    timestamp: { header: "X-Slack-Request-Timestamp", tolerance: TOLERANCE_SECONDS },
    id: { path: "event_id", prefix: "Ev" },
    timeout: 3,
    docs: "https://docs.slack.dev/authentication/verifying-requests-from-slack",
  },
} as const satisfies Readonly<Record<string, Scheme>>;

/** A name in `SCHEMES`. */
export type SchemeName = keyof typeof SCHEMES;

/** The headers of a request: of the Fetch API, or of Node.js. Names are compared without case. */
export type DeliveryHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of `sign`. */
export interface SignOptions {
  /** A name in `SCHEMES`, or a scheme of your own. */
  scheme: SchemeName | Scheme;
  /** The exact bytes (or text) that will be sent. */
  payload: Payload;
  /** One secret, or several if the scheme has a separator: each adds a signature. */
  secrets: Secrets;
  /** The delivery's ID, if the scheme has a header for it. */
  id?: string | undefined;
  /** Unix seconds (default: the clock's). */
  timestamp?: number | undefined;
}

/** Options of `verify`. */
export interface VerifyOptions {
  /** A name in `SCHEMES`, or a scheme of your own. */
  scheme: SchemeName | Scheme;
  /** The raw request body as it was received, neither parsed nor serialized again. */
  payload: Payload;
  /** The headers of the request. */
  headers: DeliveryHeaders;
  /** The receiver's secret, or several during a rotation: one match is enough. */
  secrets: Secrets;
  /** How many seconds the timestamp may differ from `now`, in either direction (default: the scheme's tolerance). */
  tolerance?: number | undefined;
  /** Unix seconds (default: the clock's). */
  now?: number | undefined;
}

/** What a valid delivery states outside its body. */
export interface VerifiedDelivery {
  /** Unix seconds, if the scheme has a timestamp. */
  timestamp?: number;
  /** The delivery's ID, if the scheme has a header for it and the request has this header. */
  id?: string;
}

/**
 * Returns the headers of a delivery: ID, timestamp and signature, as far as the scheme has them. Synchronous: needs
 * `node:crypto`, which Node, Bun and Deno have. Throws SignatureError: `invalid_scheme`, `payload_not_raw`, `no_secrets`,
 * `empty_secret`, `invalid_secret`, `too_many_secrets`, `invalid_id`, `invalid_timestamp`, `crypto_unavailable`.
 */
export function sign(options: SignOptions): Record<string, string> {
  const scheme = schemeOf(options.scheme);
  const { signature, timestamp: time, id: place } = scheme;
  const payload = rawPayload(options.payload);
  const keys = keysOf(options.secrets, scheme);
  const { separator = "", prefix = "", encoding } = signature;
  const limit = separator === "" ? 1 : MAX_SIGNATURES;
  if (keys.length > limit) {
    throw new SignatureError(
      "too_many_secrets",
      `\`secrets\` has ${keys.length} secrets, but ${signature.header} holds at most ${limit === 1 ? "one signature" : `${limit} signatures`}`,
    );
  }
  const values = { id: "", timestamp: "", body: payload };
  const headers: Record<string, string> = {};
  if (place?.header !== undefined) headers[place.header] = values.id = idText(options.id, place.header);
  if (time !== undefined) values.timestamp = timestampText(options.timestamp ?? currentTime());
  if (time?.header !== undefined) headers[time.header] = values.timestamp;
  const parts = signedParts(scheme.signed, values);
  const encode = encoding === "hex" ? toHex : toBase64;
  const items = keys.map((key) => prefix + encode(computeMac(key, ...parts)));
  if (time?.prefix !== undefined) items.unshift(time.prefix + values.timestamp);
  headers[signature.header] = items.join(separator);
  return headers;
}

/**
 * Verifies a delivery. Synchronous: needs `node:crypto`. Throws SignatureError and nothing else, whatever `headers` and
 * `payload` contain: `code` names the rule that failed. Signatures are compared in constant time.
 */
export function verify(options: VerifyOptions): VerifiedDelivery {
  const scheme = schemeOf(options.scheme);
  const { signature, timestamp: time, id: place } = scheme;
  const { headers, tolerance = time?.tolerance, now = currentTime() } = options;
  const keys = keysOf(options.secrets, scheme);
  if (tolerance !== undefined) assertTolerance(tolerance);
  assertNow(now);
  const payload = rawPayload(options.payload);
  const read = (name: string): string => headerText(headerIn(headers, name), name);
  const found = parseSignatures(read(signature.header), scheme);
  const isIdSigned = scheme.signed.includes("{id}");
  const id =
    place?.header !== undefined && (isIdSigned || headerIn(headers, place.header) !== undefined)
      ? read(place.header)
      : undefined;
  const timestamp = time?.header === undefined ? found.timestamp : timestampIn(read(time.header), time.header);
  const parts = signedParts(scheme.signed, { id: id ?? "", timestamp: timestamp ?? "", body: payload });
  const macs = keys.map((key) => computeMac(key, ...parts));
  if (!isAnyEqual(macs, found.signatures)) {
    const secrets = listSecrets(options.secrets);
    throw new SignatureError(
      "signature_mismatch",
      `no signature in ${signature.header} matches: ${commonMistake(secrets, payload) ?? MISMATCH_HINT}`,
    );
  }
  if (timestamp !== undefined && tolerance !== undefined) {
    const seconds = Number(timestamp);
    assertFresh("the timestamp", time?.future ? Math.min(seconds, now) : seconds, { now, tolerance });
  }
  return { ...(timestamp === undefined ? {} : { timestamp: Number(timestamp) }), ...(id === undefined ? {} : { id }) };
}

const MISMATCH_HINT =
  "check that the secret is this receiver's, and that the payload is the raw request body, byte for byte";

function schemeOf(scheme: SchemeName | Scheme): Scheme {
  if (typeof scheme !== "string") {
    assertScheme(scheme);
    return scheme;
  }
  if (Object.hasOwn(SCHEMES, scheme)) return SCHEMES[scheme];
  throw new SignatureError(
    "invalid_scheme",
    `\`scheme\` is ${quote(scheme)}, none of ${Object.keys(SCHEMES).join(", ")}`,
  );
}

/** Returns the keys of the secrets. Throws SignatureError as `listSecrets` does, and for a secret of the wrong form. */
function keysOf(secrets: Secrets, { name, secret: form }: Scheme): ReadonlyArray<string | Uint8Array> {
  const list = listSecrets(secrets);
  if (form === undefined) return list;
  const { prefix = "" } = form;
  return list.map((secret, index) => {
    // Some providers show it as `v1,whsec_…`, and some libraries want it without the prefix.
    const text = secret.startsWith(`v1,${prefix}`) ? secret.slice(3) : secret;
    const key = fromBase64(text.startsWith(prefix) ? text.slice(prefix.length) : text);
    if (key !== undefined && key.length > 0) return key;
    throw new SignatureError(
      "invalid_secret",
      `secret ${index + 1} of ${list.length} is not valid: ${/^[aeiou]/i.test(name) ? "an" : "a"} ${name} secret is base64${prefix === "" ? "" : ` after ${prefix}`}`,
    );
  });
}

/** Printable ASCII without spaces, so that every receiver reads from the header what was signed. */
const ID_PATTERN = /^[\x21-\x7e]{1,255}$/;

function idText(id: unknown, header: string): string {
  if (typeof id === "string" && ID_PATTERN.test(id)) return id;
  throw new SignatureError("invalid_id", `\`id\` must be 1 to 255 printable ASCII characters: it is sent as ${header}`);
}

/** Finds a header among the own members of an object of Node, or by the method of one of the Fetch API. */
function headerIn(headers: DeliveryHeaders, name: string): unknown {
  if (typeof headers !== "object" || headers === null) return undefined;
  if (typeof headers.get === "function") return (headers.get as (name: string) => unknown)(name) ?? undefined;
  const lowerName = name.toLowerCase();
  const values: unknown[] = [];
  for (const key of Object.keys(headers)) {
    if (key.length !== name.length || key.toLowerCase() !== lowerName) continue;
    const value = (headers as Readonly<Record<string, unknown>>)[key];
    if (value !== undefined) values.push(value);
  }
  return values.length > 1 ? values : values[0];
}

interface FoundSignatures {
  timestamp?: string;
  /** 32 bytes each. */
  signatures: Uint8Array[];
}

/**
 * Reads the header of the signature. Items of a list have a name, which the last character of the prefix ends; those with
 * another name are ignored, as a provider may add them.
 */
function parseSignatures(text: string, { signature, timestamp }: Scheme): FoundSignatures {
  const { header, prefix = "", separator, encoding } = signature;
  const found: FoundSignatures = { signatures: [] };
  for (const item of separator === undefined ? [text] : text.split(separator)) {
    const part = trimSpaces(item);
    if (separator !== undefined && prefix !== "" && part.indexOf(prefix.slice(-1)) < 1) {
      throw new SignatureError(
        "header_malformed",
        `the item ${quote(part)} of ${header} has no name such as ${prefix}`,
      );
    }
    if (timestamp?.prefix !== undefined && part.startsWith(timestamp.prefix)) {
      if (found.timestamp !== undefined) {
        throw new SignatureError("timestamp_repeated", `${header} has more than one ${timestamp.prefix}`);
      }
      found.timestamp = timestampIn(part.slice(timestamp.prefix.length), `${timestamp.prefix} of ${header}`);
    } else if (part.startsWith(prefix)) {
      if (found.signatures.length === MAX_SIGNATURES) {
        throw new SignatureError("too_many_signatures", `${header} has more than ${MAX_SIGNATURES} signatures`);
      }
      found.signatures.push(decodeSignature(part.slice(prefix.length), encoding, header));
    }
  }
  if (timestamp?.prefix !== undefined && found.timestamp === undefined) {
    throw new SignatureError("timestamp_missing", `${header} has no ${timestamp.prefix}`);
  }
  if (found.signatures.length === 0) {
    throw new SignatureError("signature_missing", `${header} has no signature that begins with ${prefix}`);
  }
  return found;
}

/** Throws SignatureError `timestamp_malformed`. */
function timestampIn(text: string, name: string): string {
  if (TIMESTAMP_PATTERN.test(text)) return text;
  throw new SignatureError(
    "timestamp_malformed",
    `${name} is ${quote(text)}, not a Unix time: whole seconds, at most 12 digits, no sign, no leading zero`,
  );
}

const HEX_PATTERN = /^[0-9a-f]{64}$/i;
const MAC_BYTES = 32;

/** Throws SignatureError `signature_malformed`. */
function decodeSignature(text: string, encoding: "hex" | "base64", header: string): Uint8Array {
  const bytes = encoding === "base64" ? fromBase64(text) : HEX_PATTERN.test(text) ? fromHex(text) : undefined;
  if (bytes?.length === MAC_BYTES) return bytes;
  throw new SignatureError(
    "signature_malformed",
    `a signature in ${header} is not an HMAC-SHA256 in ${encoding === "hex" ? "hex: 64 digits" : "base64: 44 characters"}`,
  );
}
