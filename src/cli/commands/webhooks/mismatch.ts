import { parseJson } from "../../../contract/json.ts";
import { misreadings, otherTemplates } from "../../../receiver-check/signing-mistake.ts";
import { SignatureError } from "../../../webhooks/index.ts";
import { type Scheme, verify, type VerifyOptions } from "../../../webhooks/schemes.ts";

interface Delivery extends VerifyOptions {
  scheme: Scheme;
  payload: Buffer;
  secrets: readonly string[];
}

export interface OtherMatch {
  /** What a delivery is that the signature may match. */
  changed: Partial<Delivery>;
  matches: string;
  fix: string;
}

/** Returns what the signature of a delivery matches, if it matches not the delivery but what a common mistake makes of it. */
export function findMismatch(delivery: Delivery): OtherMatch | undefined {
  return [...otherPayloads(delivery), ...otherKeys(delivery), ...otherTemplatesOf(delivery)].find(({ changed }) => {
    try {
      verify({ ...delivery, ...changed });
      return true;
    } catch (error) {
      // The age of the timestamp is checked last.
      return error instanceof SignatureError && ["timestamp_too_old", "timestamp_in_future"].includes(error.code);
    }
  });
}

function otherPayloads({ payload }: Delivery): OtherMatch[] {
  const text = payload.toString();
  const trimmed = text.trimEnd();
  const fix = "Save the raw body of the request, byte for byte, before anything parses or formats it.";
  // Without the white space between the tokens, and as editors and formatters indent JSON.
  const compact = trimmed.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
  const value = parseJson(trimmed);
  const indented = value === undefined ? [] : [2, 4, "\t"].map((indent) => JSON.stringify(value, undefined, indent));
  const pairs: [matches: string, texts: string[]][] = [
    ["the payload without the whitespace at its end", [trimmed]],
    ["the payload with a line break at its end", [`${text}\n`]],
    ["the payload with other line breaks", [text.replaceAll("\r\n", "\n"), text.replaceAll(/\r?\n/g, "\r\n")]],
    [
      "the same fields, formatted in another way",
      [compact, ...misreadings(trimmed).map(({ text }) => text), ...indented],
    ],
  ];
  return pairs.flatMap(([matches, texts]) =>
    texts.map((other) => ({ changed: { payload: Buffer.from(other) }, matches, fix })),
  );
}

/** Returns a hint if the payload looks like JSON that was formatted for reading, which senders do not do. */
export function formattedHint(payload: Buffer): string | undefined {
  const text = payload.toString().trim();
  if (!/^[[{]\s*\n\s/.test(text) || parseJson(text) === undefined) return undefined;
  return "The payload is JSON with line breaks, so it was probably formatted after it was received: pass the raw body.";
}

function otherKeys({ scheme: { secret: form, ...scheme }, secrets }: Delivery): OtherMatch[] {
  const prefix = form?.prefix ?? /^[a-z]+_/i.exec(secrets[0]!)?.[0] ?? "";
  const bare = secrets.map((secret) => (secret.startsWith(prefix) ? secret.slice(prefix.length) : secret));
  const right = form === undefined ? "the whole secret" : "the secret, decoded from base64";
  const fix = `The key is ${right}: sign with that.`;
  return [
    { changed: { scheme, secrets: bare }, matches: `the secret without ${prefix}`, fix },
    { changed: { scheme }, matches: "the text of the secret as the key", fix },
    {
      changed: { scheme: { ...scheme, secret: { encoding: "base64" } }, secrets: bare },
      matches: "the secret decoded from base64",
      fix,
    },
    {
      changed: { scheme, secrets: secrets.map((secret) => `${secret}\n`) },
      matches: "the secret with a line break at its end",
      fix: "Trim the secret where the sender reads it.",
    },
  ];
}

function otherTemplatesOf({ scheme }: Delivery): OtherMatch[] {
  const fix = `${scheme.name} signs ${scheme.signed}: sign that.`;
  // A scheme that does not sign its timestamp has none.
  const { timestamp: _, ...untimed } = scheme;
  return otherTemplates(scheme.signed).map((signed) => ({
    changed: { scheme: { ...(signed.includes("{timestamp}") ? scheme : untimed), signed } },
    matches: signed,
    fix,
  }));
}
