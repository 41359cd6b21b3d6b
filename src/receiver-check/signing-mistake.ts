import { createHmac } from "node:crypto";
import { parseJson } from "../contract/parse-json.ts";
import { isAccepted } from "./exchange.ts";
import { isForm, type Sample } from "./samples.ts";
import type { Deviation, Subject } from "./subject.ts";
import { SIGNATURE_LENGTHS } from "./terms.ts";
import { SignatureError } from "../webhooks/index.ts";
import { signedParts } from "../webhooks/scheme.ts";
import { type Scheme, SCHEMES } from "../webhooks/schemes.ts";

const PREFIX = "whsec_";

export const PARSED_BODY_FIX =
  "Verify the raw request body, before any JSON parser reads it: register the route before express.json(), or keep the bytes.";

const PARSED_FORM_FIX =
  "Verify the raw request body, before any parser of forms reads it: register the route before express.urlencoded(), or keep the bytes.";

const DECODED_BODY_FIX =
  "The receiver decodes the body as Latin-1: compute the HMAC over the bytes of the raw body, or decode them as UTF-8.";

/** Returns true if the text is what a library of Stripe, Svix, Standard Webhooks, GitHub or Shopify says of such a body. */
export function saysParsedBody(text: string): boolean {
  return /parsed JavaScript object|string or (?:a )?Buffer|payload must be a string|missing_body/i.test(text);
}

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
  for (const { deviate, fix } of mistakesOf(subject)) {
    const sample = subject.sample();
    if (await accepts(subject, sample, deviate)) return fix;
  }
  return undefined;
}

/** The same, for mistakes of reading a body like this one. */
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

/** Returns what receivers compute the HMAC over that do not take the raw bytes. */
function misreadings(body: string): { text: string; fix: string }[] {
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
  const others = Object.entries(SCHEMES).filter(
    ([
      ,
      {
        signature: { header },
      },
    ]) => header !== signature.header,
  );
  return [
    ...others.map(([name, scheme]) => ({
      deviate: () => ({ scheme }),
      fix: `The receiver accepts signatures of ${scheme.name}: pass --scheme ${name}.`,
    })),
    ...keyMistakes(scheme, subject.secrets.current),
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
    ...OTHER_TEMPLATES.filter((template) => template !== signed && isPossible(template, signed)).map((template) => ({
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
    {
      deviate: (sample) => macOf(subject, sample, { algorithm: "sha1" }),
      fix: `The receiver computes the HMAC with SHA-1: compute it with SHA-256, and compare it with ${header}.`,
    },
  ];
}

/** What receivers compute the HMAC over that forget a part, or follow the documentation of another provider. */
const OTHER_TEMPLATES = [
  "{body}",
  "{timestamp}.{body}",
  "{timestamp}:{body}",
  "{timestamp}{body}",
  "{id}.{body}",
  "v0:{body}",
  "{id}.{timestamp}.{body}",
];

/** A delivery has only those values that are signed. */
function isPossible(template: string, signed: string): boolean {
  return ["{id}", "{timestamp}"].every((name) => signed.includes(name) || !template.includes(name));
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

/** Mistakes of reading and decoding the secret. */
function keyMistakes(scheme: Scheme, secret: string): Mistake[] {
  const { secret: form, ...asText } = scheme;
  const prefix = form?.prefix ?? PREFIX;
  const rest = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const decoded: Scheme = { ...scheme, secret: { encoding: "base64", prefix: "" } };
  const mistake = (scheme: Scheme, key: string, fix: string): Mistake => ({
    deviate: () => ({ scheme, secrets: [key] }),
    fix,
  });
  if (form !== undefined) {
    return [
      mistake(
        asText,
        secret,
        `The receiver uses the text of the secret as the key: decode the base64 after ${prefix}.`,
      ),
      mistake(asText, rest, "The receiver uses the text of the secret as the key: decode its base64."),
    ];
  }
  return [
    mistake(scheme, rest, `The receiver leaves out ${prefix}: use the whole secret as the key.`),
    mistake(decoded, rest, "The receiver decodes the secret: use its text as the key."),
    mistake(scheme, `${secret}\n`, "The receiver's secret ends in a line break: trim it where it is read."),
    mistake(scheme, `"${secret}"`, "The receiver's secret is in quotes: remove them where it is read."),
  ];
}

/** Signs with another algorithm, or something else than the scheme does. */
function macOf(
  subject: Subject,
  { id, body }: Sample,
  { algorithm = "sha256", signed, timestamp: text }: { algorithm?: string; signed?: string; timestamp?: string },
): Deviation {
  const { scheme } = subject.provider;
  const { secret: form, signature } = scheme;
  const { encoding, header, prefix = "" } = signature;
  const { current } = subject.secrets;
  const key = form === undefined ? current : Buffer.from(current.slice(form.prefix?.length), form.encoding);
  const timestamp = subject.now();
  const hmac = createHmac(algorithm, key);
  const values = { id, timestamp: text ?? String(timestamp), body };
  for (const part of signedParts(signed ?? scheme.signed, values)) hmac.update(part);
  const mac = hmac.digest(encoding);
  // GitHub's deliveries also have the older header X-Hub-Signature, with SHA-1.
  const isOlder = algorithm === "sha1" && header.endsWith("-256");
  return {
    timestamp,
    header: (right) => right.slice(0, -SIGNATURE_LENGTHS[encoding]) + mac,
    ...(isOlder ? { headers: { [header.slice(0, -4)]: prefix.replace("256", "1") + mac } } : {}),
  };
}
