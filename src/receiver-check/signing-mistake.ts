import { createHmac } from "node:crypto";
import { isAccepted } from "./exchange.ts";
import { PARSED_BODY_FIX } from "./checks/raw-body.ts";
import { isJsonObject, type Sample } from "./samples.ts";
import type { Deviation, Subject } from "./subject.ts";
import { SIGNATURE_LENGTHS } from "./terms.ts";
import { SignatureError } from "../webhooks/index.ts";
import { signedParts } from "../webhooks/scheme.ts";
import { type Scheme, SCHEMES } from "../webhooks/schemes.ts";

const PREFIX = "whsec_";

interface Mistake {
  /** Returns what a receiver with this mistake accepts. */
  deviate: (sample: Sample) => Deviation;
  fix: string;
}

/** Returns the fix of the mistake with which the receiver verifies, if it accepts what this mistake would sign. */
export async function signingMistake(subject: Subject): Promise<string | undefined> {
  if (await parsesBody(subject)) return PARSED_BODY_FIX;
  for (const { deviate, fix } of mistakesOf(subject)) {
    const sample = subject.sample();
    try {
      if (isAccepted(await subject.deliver(sample, deviate(sample)))) return fix;
    } catch (error) {
      // The secret has no such form.
      if (!(error instanceof SignatureError)) throw error;
    }
  }
  return undefined;
}

/** Returns true if the receiver accepts the payload with the numbers that JavaScript writes, but not with its own. */
async function parsesBody(subject: Subject): Promise<boolean> {
  const sample = subject.sample();
  if (!isJsonObject(sample.body)) return false;
  const body = JSON.stringify(JSON.parse(sample.body));
  return body !== sample.body && isAccepted(await subject.deliver(sample, { body }));
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
    ...(signed === "{body}"
      ? []
      : [
          {
            deviate: (sample: Sample) => macOf(subject, sample, { signed: "{body}" }),
            fix: `The receiver computes the HMAC over the body alone: compute it over \`${signed}\`.`,
          },
        ]),
    {
      deviate: (sample) => macOf(subject, sample, { algorithm: "sha1" }),
      fix: `The receiver computes the HMAC with SHA-1: compute it with SHA-256, and compare it with ${header}.`,
    },
  ];
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
  { algorithm = "sha256", signed }: { algorithm?: string; signed?: string },
): Deviation {
  const { scheme } = subject.provider;
  const { secret: form, signature } = scheme;
  const { encoding, header, prefix = "" } = signature;
  const { current } = subject.secrets;
  const key = form === undefined ? current : Buffer.from(current.slice(form.prefix?.length), form.encoding);
  const timestamp = subject.now();
  const hmac = createHmac(algorithm, key);
  const values = { id, timestamp: String(timestamp), body };
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
