import { crc32 } from "node:zlib";
import type { Environment } from "./environments.ts";

/** Prefixes of every credential that carries a checksum. */
export const CREDENTIAL_PREFIXES = {
  sk_live_: { kind: "secret_key", environment: "live" },
  sk_sandbox_: { kind: "secret_key", environment: "sandbox" },
  rk_live_: { kind: "restricted_key", environment: "live" },
  rk_sandbox_: { kind: "restricted_key", environment: "sandbox" },
  at_: { kind: "access_token", environment: undefined },
  rt_: { kind: "refresh_token", environment: undefined },
  cs_: { kind: "client_secret", environment: undefined },
} as const satisfies Record<string, { kind: string; environment: Environment | undefined }>;

export type CredentialPrefix = keyof typeof CREDENTIAL_PREFIXES;
export type CredentialKind = (typeof CREDENTIAL_PREFIXES)[CredentialPrefix]["kind"];

/** Signing secrets: this and 43 base64url characters. The HMAC key is the whole string, as UTF-8. */
export const SIGNING_SECRET_PREFIX = "whsec_";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const CREDENTIAL_PATTERN = new RegExp(
  `^(${Object.keys(CREDENTIAL_PREFIXES).join("|")})[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
);

interface ParsedCredential {
  prefix: CredentialPrefix;
  kind: CredentialKind;
  /** The environment that the prefix names; tokens carry theirs in the platform. */
  environment: Environment | undefined;
}

/** Returns a credential of 256 random bits: prefix, 43 base62 characters, and 6 of CRC32 over both. */
export function formatCredential(prefix: CredentialPrefix, random: Uint8Array): string {
  if (random.length !== 32) throw new RangeError("a credential takes exactly 32 random bytes");
  const body = prefix + base62(BigInt(`0x${Buffer.from(random).toString("hex")}`), SECRET_LENGTH);
  return body + checksum(body);
}

/** Parses a credential, offline. Returns undefined if its form or checksum is wrong, because it was mistyped or cut off. */
export function parseCredential(text: string): ParsedCredential | undefined {
  const prefix = CREDENTIAL_PATTERN.exec(text)?.[1] as CredentialPrefix | undefined;
  if (prefix === undefined) return undefined;
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  return { prefix, ...CREDENTIAL_PREFIXES[prefix] };
}

/** Returns the parts of a credential that may be shown: its first 12 characters and its last 4. */
export function displayOf(credential: string): { prefix: string; last4: string } {
  return { prefix: credential.slice(0, 12), last4: credential.slice(-4) };
}

const CREDENTIAL_LIKE = new RegExp(
  `(${[...Object.keys(CREDENTIAL_PREFIXES), SIGNING_SECRET_PREFIX].join("|")})[0-9A-Za-z_-]{16,}`,
  "g",
);

/** Returns the text for logs: whatever looks like a credential, whole or cut off, is reduced to its prefix. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(CREDENTIAL_LIKE, "$1…");
}

/** Returns a signing secret of 256 random bits. */
export function formatSigningSecret(random: Uint8Array): string {
  if (random.length !== 32) throw new RangeError("a signing secret takes exactly 32 random bytes");
  return SIGNING_SECRET_PREFIX + Buffer.from(random).toString("base64url");
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= 62n) digits = ALPHABET[Number(rest % 62n)]! + digits;
  return digits;
}
