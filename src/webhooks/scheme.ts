import { SignatureError } from "./signature-error.ts";

/** How a provider signs its deliveries with HMAC-SHA256 (RFC 2104), as plain data. */
export interface Scheme {
  /** The provider's name, for messages. */
  name: string;
  /** What is signed: a template of `{id}`, `{timestamp}` and `{body}`, such as `{timestamp}.{body}`. */
  signed: string;
  signature: {
    /** The header that contains the signature. */
    header: string;
    /** What precedes a signature in the header, such as `v1=` (default: nothing). */
    prefix?: string;
    encoding: "hex" | "base64";
    /** What separates several signatures in the header. Without it, the header contains one signature and nothing else. */
    separator?: string;
  };
  /** Where the time of the signature is: a header of its own, or a prefixed item of the signature's header. */
  timestamp?: {
    header?: string;
    prefix?: string;
    /** How many seconds it may differ from the clock, in either direction (default: any number). */
    tolerance?: number;
    /** True if the provider's own verifiers accept any time in the future. */
    future?: boolean;
  };
  /** Where the ID is by which a receiver detects a repeated delivery: a header, or a path of keys in the JSON body. */
  id?: {
    header?: string;
    path?: string;
    /** What each ID begins with, such as `msg_` (default: nothing, since they are UUIDs). */
    prefix?: string;
  };
  /** How many seconds the provider waits for a response (default: 10). */
  timeout?: number;
  /** How the key is decoded from the secret (default: the UTF-8 bytes of the whole secret). */
  secret?: { encoding: "base64"; prefix?: string };
  /** Headers that every delivery also has, with the values of an example. `{id}` is the delivery's ID. */
  headers?: Readonly<Record<string, string>>;
  /** The provider's page about verification. */
  docs?: string;
}

/** A rule that a scheme violates, and the keys of the value in question. */
export interface SchemeProblem {
  path: readonly string[];
  message: string;
}

/** Returns the first rule between the keys of a scheme that it breaks. */
export function schemeProblem({ signed, signature, timestamp, id }: Scheme): SchemeProblem | undefined {
  const names = placeholdersIn(signed);
  const unknown = names.find((name) => !PLACEHOLDERS.has(name));
  const atSigned = (message: string): SchemeProblem => ({ path: ["signed"], message });
  if (unknown !== undefined) return atSigned(`{${unknown}} is none of {id}, {timestamp} and {body}`);
  if (!names.includes("body")) return atSigned("must contain {body}");
  if (names.includes("timestamp") && timestamp === undefined) return atSigned("{timestamp} needs the key timestamp");
  if (names.includes("id") && id?.header === undefined) return atSigned("{id} needs the key id.header");
  if (timestamp !== undefined) {
    const atTimestamp = (message: string): SchemeProblem => ({ path: ["timestamp"], message });
    if (!names.includes("timestamp")) return atTimestamp("proves nothing unless signed contains {timestamp}");
    if ((timestamp.header === undefined) === (timestamp.prefix === undefined)) {
      return atTimestamp("must have either header or prefix");
    }
    if (timestamp.prefix !== undefined && signature.separator === undefined) {
      return atTimestamp("prefix needs the key signature.separator");
    }
  }
  if (id !== undefined && (id.header === undefined) === (id.path === undefined)) {
    return { path: ["id"], message: "must have either header or path" };
  }
  return undefined;
}

/** Throws SignatureError `invalid_scheme`. */
export function assertScheme(scheme: Scheme): void {
  const problem = schemeProblem(scheme);
  if (problem !== undefined) {
    throw new SignatureError("invalid_scheme", `the scheme's ${problem.path.join(".")}: ${problem.message}`);
  }
}

const PLACEHOLDERS: ReadonlySet<string> = /* @__PURE__ */ new Set(["id", "timestamp", "body"]);

/** Returns the template with its placeholders replaced, as parts that are signed one after the other. */
export function signedParts<Part>(signed: string, values: Readonly<Record<string, Part>>): Array<string | Part> {
  return signed.split(PLACEHOLDER).map((part, index) => (index % 2 === 0 ? part : values[part]!));
}

function placeholdersIn(signed: string): string[] {
  return signed.split(PLACEHOLDER).filter((_, index) => index % 2 === 1);
}

const PLACEHOLDER = /\{(\w*)\}/;
