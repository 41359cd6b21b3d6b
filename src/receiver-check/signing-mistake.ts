import { isAccepted } from "./exchange.ts";
import { PARSED_BODY_FIX } from "./checks/raw-body.ts";
import { isJsonObject } from "./samples.ts";
import type { Subject } from "./subject.ts";
import { SignatureError } from "../webhooks/index.ts";
import type { Scheme } from "../webhooks/schemes.ts";

const PREFIX = "whsec_";

interface Mistake {
  scheme: Scheme;
  secret: string;
  fix: string;
}

/** Returns the fix of the mistake with which the receiver verifies, if it accepts what this mistake would sign. */
export async function signingMistake(subject: Subject): Promise<string | undefined> {
  if (await parsesBody(subject)) return PARSED_BODY_FIX;
  for (const { scheme, secret, fix } of mistakesOf(subject.provider.scheme, subject.secrets.current)) {
    try {
      if (isAccepted(await subject.deliver(subject.sample(), { scheme, secrets: [secret] }))) return fix;
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

function mistakesOf(scheme: Scheme, secret: string): Mistake[] {
  const { secret: form, ...asText } = scheme;
  const { encoding, header } = scheme.signature;
  const other = encoding === "hex" ? "base64" : "hex";
  const prefix = form?.prefix ?? PREFIX;
  const rest = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const decoded: Scheme = { ...scheme, secret: { encoding: "base64", prefix: "" } };
  const keys: Mistake[] =
    form === undefined
      ? [
          { scheme, secret: rest, fix: `The receiver leaves out ${prefix}: use the whole secret as the key.` },
          { scheme: decoded, secret: rest, fix: "The receiver decodes the secret: use its text as the key." },
        ]
      : [
          {
            scheme: asText,
            secret,
            fix: `The receiver uses the text of the secret as the key: decode the base64 after ${prefix}.`,
          },
          {
            scheme: asText,
            secret: rest,
            fix: "The receiver uses the text of the secret as the key: decode its base64.",
          },
        ];
  return [
    ...keys,
    {
      scheme: { ...scheme, signature: { ...scheme.signature, encoding: other } },
      secret,
      fix: `The receiver expects the signature in ${other}: ${header} contains ${encoding}.`,
    },
  ];
}
