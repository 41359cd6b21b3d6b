import { createHmac } from "node:crypto";
import { parseJson } from "../contract/json.ts";
import { SignatureError } from "../webhooks/index.ts";
import { signedParts } from "../webhooks/scheme.ts";
import { type Scheme, SCHEMES } from "../webhooks/schemes.ts";
import { isAccepted } from "./exchange.ts";
import { isForm, type Sample } from "./samples.ts";
import type { Deviation, Subject } from "./subject.ts";

const PARSED_FORM_FIX =
  "Verify the raw request body, before any parser of forms reads it: register the route before express.urlencoded(), or keep the bytes.";

const DECODED_BODY_FIX =
  "The receiver decodes the body as Latin-1: compute the HMAC over the bytes of the raw body, or decode them as UTF-8.";

interface Mistake {
  /** Returns what a receiver with this mistake accepts. */
  deviate: (sample: Sample) => Deviation;
  fix: string;
}

/** Returns the fix of the mistake with which the receiver verifies, if it accepts what this mistake would sign. */
export async function signingMistake(subject: Subject): Promise<string | undefined> {
  const { body } = subject.sample();
  if (typeof body === "string") {
    const fix = await bodyMistake(subject, body);
    if (fix !== undefined) return fix;
  }
  const mistakes = mistakesOf(subject);
  for (let start = 0; start < mistakes.length; start += CONCURRENCY) {
    const tried = mistakes.slice(start, start + CONCURRENCY);
    const results = await Promise.all(tried.map(({ deviate }) => accepts(subject, subject.sample(), deviate)));
    const found = tried.find((_, i) => results[i]);
    if (found !== undefined) return found.fix;
  }
  return await headerMistake(subject);
}

/** Slow receivers reject each trial slowly. */
const CONCURRENCY = 8;

/** Returns the fix of a receiver that reads other headers than those of the scheme. */
async function headerMistake(subject: Subject): Promise<string | undefined> {
  const { scheme } = subject.provider;
  const names = otherNames(scheme);
  const acceptsWith = (pairs: typeof names): Promise<boolean> =>
    accepts(subject, subject.sample(), () => ({
      headers: (signed) => Object.fromEntries(pairs.map(({ right, wrong }) => [wrong, signed.get(right)!])),
    }));
  if (!(await acceptsWith(names))) return undefined;
  for (const pair of names) {
    if (await acceptsWith([pair])) return `The receiver reads ${pair.wrong}: read ${pair.right}.`;
  }
  return `The receiver reads other headers: the signature is in ${scheme.signature.header}.`;
}

/** Returns names under which a receiver may look for a header of the scheme. */
function otherNames({ name, signature, timestamp, id }: Scheme): { right: string; wrong: string }[] {
  const [provider = ""] = name.split(" ");
  const headers = [
    [signature.header, "Signature"],
    [timestamp?.header, "Timestamp"],
    [id?.header, "Id"],
  ] as const;
  return headers.flatMap(([right, role]) => {
    if (right === undefined) return [];
    const short = right.replace(/-\d+$/, "");
    const plain = short.replace(/^x-/i, "");
    const roots = [plain, `${provider}-${role}`, `Webhook-${role}`, role];
    const wrong = roots.flatMap((root) => [root, `X-${root}`, `X-${root}-256`]).map(capitalized);
    return [...new Set(wrong)]
      .filter((other) => other.toLowerCase() !== right.toLowerCase())
      .map((other) => ({ right, wrong: other }));
  });
}

function capitalized(header: string): string {
  return header.replaceAll(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** Finds, as above, mistakes of reading a body like this one. */
export async function bodyMistake(subject: Subject, body: string): Promise<string | undefined> {
  const others = misreadings(body).filter(({ text }) => text !== body);
  for (const { text, fix } of others) {
    if (await accepts(subject, { ...subject.sample(), body }, () => ({ signedBody: text }))) return fix;
  }
  return undefined;
}

async function accepts(subject: Subject, sample: Sample, deviate: Mistake["deviate"]): Promise<boolean> {
  try {
    return isAccepted(await subject.deliver(sample, deviate(sample)));
  } catch (error) {
    // The secret has no such form.
    if (error instanceof SignatureError) return false;
    throw error;
  }
}

/** Returns the text over which programs that do not use the raw bytes compute the HMAC. */
export function misreadings(body: string): { text: string; fix: string }[] {
  const latin1 = { text: Buffer.from(body).toString("latin1"), fix: DECODED_BODY_FIX };
  if (isForm(body)) {
    const fields = [...new URLSearchParams(body)];
    const encoded = fields.map((field) => field.map(encodeURIComponent).join("=")).join("&");
    const texts = [new URLSearchParams(body).toString(), encoded, JSON.stringify(Object.fromEntries(fields))];
    return [...texts.map((text) => ({ text, fix: PARSED_FORM_FIX })), latin1];
  }
  const value = parseJson(body);
  if (value === undefined) return [latin1];
  const spaced = JSON.stringify(value, undefined, 1).replaceAll(/,\n */g, ", ").replaceAll(/\n */g, "");
  const ascii = spaced.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  // As JavaScript and other languages write it, and as Python does.
  const texts = [JSON.stringify(value), spaced, ascii];
  return [...texts.map((text) => ({ text, fix: PARSED_BODY_FIX })), latin1];
}

function mistakesOf(subject: Subject): Mistake[] {
  const { scheme } = subject.provider;
  const { signature, signed } = scheme;
  const { encoding, header, prefix } = signature;
  const other = encoding === "hex" ? "base64" : "hex";
  const withSignature = (changed: Partial<Scheme["signature"]>) => () => ({
    scheme: { ...scheme, signature: { ...signature, ...changed } },
  });
  const others = Object.entries(SCHEMES).filter(([, known]) => known.signature.header !== header);
  return [
    ...others.map(([name, scheme]) => ({
      deviate: () => ({ scheme }),
      fix: `The receiver accepts signatures of ${scheme.name}: pass --scheme ${name}.`,
    })),
    ...wrongKeys(scheme, subject.secrets.current).map(({ key, fix }) => ({
      deviate: (sample: Sample) => macOf(subject, sample, { key }),
      fix,
    })),
    {
      deviate: withSignature({ encoding: other }),
      fix: `The receiver expects the signature in ${other}: ${header} contains ${encoding}.`,
    },
    ...(prefix === undefined
      ? []
      : [
          {
            deviate: withSignature({ prefix: "" }),
            fix: `The receiver expects the signature without ${prefix}: remove ${prefix} from what ${header} contains, or add it to the computed one.`,
          },
        ]),
    ...otherTemplates(signed).map((template) => ({
      deviate: (sample: Sample) => macOf(subject, sample, { signed: template }),
      fix: `The receiver computes the HMAC over ${template === "{body}" ? "the body alone" : `\`${template}\``}: compute it over \`${signed}\`.`,
    })),
    ...(scheme.timestamp === undefined
      ? []
      : [
          {
            deviate: (sample: Sample) => inMilliseconds(subject, sample),
            fix: `The receiver takes the timestamp for milliseconds: it is in seconds. Compare it with Date.now() / 1000.`,
          },
        ]),
    ...[prefix, prefix?.replace("256", "1")].map((prefix) => ({
      deviate: (sample: Sample) => macOf(subject, sample, { algorithm: "sha1", prefix }),
      fix: `The receiver computes the HMAC with SHA-1: compute it with SHA-256, and compare it with ${header}.`,
    })),
  ];
}

/** Templates of receivers that forget a part, or follow the documentation of another provider. */
const OTHER_TEMPLATES = [
  "{body}",
  "{timestamp}.{body}",
  "{timestamp}:{body}",
  "{timestamp}{body}",
  "{id}.{body}",
  "v0:{body}",
  "{id}.{timestamp}.{body}",
];

/** Returns those that differ from `signed`, and contain only values that it contains: a delivery has no others. */
export function otherTemplates(signed: string): string[] {
  return OTHER_TEMPLATES.filter(
    (template) =>
      template !== signed && ["{id}", "{timestamp}"].every((name) => signed.includes(name) || !template.includes(name)),
  );
}

/** Returns a delivery whose timestamp is in milliseconds. */
function inMilliseconds(subject: Subject, sample: Sample): Deviation {
  const { timestamp } = subject.provider.scheme;
  const milliseconds = String(subject.clock.now());
  const { timestamp: seconds, header } = macOf(subject, sample, { timestamp: milliseconds });
  return {
    timestamp: seconds!,
    header: (right) => header!(right)!.replace(String(seconds), milliseconds),
    ...(timestamp?.header === undefined ? {} : { timestampHeader: milliseconds }),
  };
}

/** Returns the keys of receivers that read or decode the secret in another way. */
function wrongKeys({ secret: form }: Scheme, secret: string): { key: string | Buffer; fix: string }[] {
  const prefix = form?.prefix ?? /^[a-z]+_/i.exec(secret)?.[0] ?? "";
  const rest = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const right = form === undefined ? Buffer.from(secret) : Buffer.from(rest, form.encoding);
  const decoded = "The receiver decodes the secret: use its text as the key.";
  const text = "The receiver uses the text of the secret as the key: decode";
  const keys =
    form === undefined
      ? [
          { key: rest, fix: `The receiver leaves out ${prefix}: use the whole secret as the key.` },
          ...[rest, secret].flatMap((part) =>
            (["base64", "hex"] as const).map((encoding) => ({ key: Buffer.from(part, encoding), fix: decoded })),
          ),
        ]
      : [
          { key: secret, fix: `${text} the base64 after ${prefix}.` },
          { key: rest, fix: `${text} its base64.` },
          {
            key: Buffer.from(secret, "base64"),
            fix: `The receiver decodes the whole secret: remove ${prefix} before it decodes the base64.`,
          },
        ];
  return [
    // What a variable without a value becomes in several languages.
    ...["", "undefined", "null", "None"].map((key) => ({ key, fix: NO_SECRET_FIX })),
    ...keys.filter(({ key }) => key.length > 0 && !right.equals(Buffer.from(key as Buffer))),
    { key: `${secret}\n`, fix: "The receiver's secret ends in a line break: trim it where it is read." },
    { key: `"${secret}"`, fix: "The receiver's secret is in quotes: remove them where it is read." },
  ];
}

interface OtherMac {
  key?: string | Buffer;
  algorithm?: string;
  /** A template. */
  signed?: string;
  timestamp?: string;
  prefix?: string | undefined;
}

/** Signs with another key or algorithm, or something else than the scheme does. */
function macOf(
  subject: Subject,
  { id, body }: Sample,
  { key = ownKey(subject), algorithm = "sha256", signed, timestamp: text, prefix: other }: OtherMac,
): Deviation {
  const { scheme } = subject.provider;
  const { encoding, header, prefix = "" } = scheme.signature;
  const timestamp = subject.now();
  const hmac = createHmac(algorithm, key);
  const values = { id, timestamp: text ?? String(timestamp), body };
  for (const part of signedParts(signed ?? scheme.signed, values)) hmac.update(part);
  const mac = hmac.digest(encoding);
  // GitHub's deliveries also have the older header X-Hub-Signature, with SHA-1.
  const isOlder = algorithm === "sha1" && header.endsWith("-256");
  return {
    timestamp,
    header: (right) => right.slice(0, -SIGNATURE_LENGTHS[encoding] - prefix.length) + (other ?? prefix) + mac,
    ...(isOlder ? { headers: () => ({ [header.slice(0, -4)]: prefix.replace("256", "1") + mac }) } : {}),
  };
}

function ownKey({ provider: { scheme }, secrets: { current } }: Subject): string | Buffer {
  const { prefix = "", encoding } = scheme.secret ?? {};
  if (encoding === undefined) return current;
  return Buffer.from(current.startsWith(prefix) ? current.slice(prefix.length) : current, encoding);
}

export const PARSED_BODY_FIX =
  "Verify the raw request body, before any JSON parser reads it: register the route before express.json(), or keep the bytes.";

const NO_SECRET_FIX = "The receiver has no secret: check that its variable is set, and under which name it is read.";

interface Saying {
  /** Error messages of the libraries of Stripe, Svix, Standard Webhooks, GitHub or Shopify, or of `node:crypto`. */
  pattern: RegExp;
  fix: (header: string) => string;
}

const SAYINGS: readonly Saying[] = [
  {
    pattern: /parsed JavaScript object|string or (?:a )?Buffer|payload must be a string|missing_body/i,
    fix: () => PARSED_BODY_FIX,
  },
  {
    pattern: /secret, eventPayload & signature required/,
    fix: (header) =>
      `The receiver does not find ${header}, or has no secret or no body: check the name of the header, its variable, and that it reads the raw body.`,
  },
  {
    pattern: /no webhook payload was provided|"data" argument must be .* received undefined/i,
    fix: () =>
      "The receiver passes no body to its library: read the raw body, whatever its Content-Type (in Express, express.raw({ type: '*/*' })).",
  },
  {
    pattern:
      /no webhook secret value|secret (?:can't be empty|to be of type)|"key" argument must be .* received undefined/i,
    fix: () => NO_SECRET_FIX,
  },
  {
    pattern: /no stripe-signature header value|missing required headers|missing_(?:hmac|headers)/i,
    fix: (header) =>
      `The receiver does not find ${header}: in Node.js, the names of headers are in lower case (request.headers["${header.toLowerCase()}"]).`,
  },
];

/** Returns the fix of the mistake that a library's message in a receiver's response describes. */
export function saidMistake(response: string, { signature }: Scheme): string | undefined {
  const lower = response.toLowerCase();
  const names = (header: string): boolean => lower.includes(header.toLowerCase());
  const other = Object.entries(SCHEMES).find(([, known]) => names(known.signature.header));
  if (other !== undefined && !names(signature.header)) {
    const [name, { signature: expected }] = other;
    return `The receiver expects ${expected.header}, not ${signature.header}: pass --scheme ${name}.`;
  }
  return SAYINGS.find(({ pattern }) => pattern.test(response))?.fix(signature.header);
}

/** Number of characters of an HMAC-SHA256. */
export const SIGNATURE_LENGTHS = { hex: 64, base64: 44 } as const;

/** What a provider's documentation calls the timestamp and the signature, alone and after their usual names. */
export function termsOf({ timestamp, signature }: Scheme) {
  const [isT, isV1] = [timestamp?.prefix === "t=", signature.prefix === "v1="];
  return {
    t: isT ? "t" : "timestamp",
    v1: isV1 ? "v1" : "signature",
    timestamp: isT ? "timestamp (t)" : "timestamp",
    signature: isV1 ? "signature (v1)" : "signature",
  };
}
