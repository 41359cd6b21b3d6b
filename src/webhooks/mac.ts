import type * as NodeCrypto from "node:crypto";
import { SignatureError } from "./signature-error.ts";

/**
 * Node's own crypto if the runtime has it: Node, Bun, Deno, and workerd with `nodejs_compat`. Looked up rather than
 * imported, so that bundles for browsers and edge runtimes have nothing to resolve.
 */
const nodeCrypto = /* @__PURE__ */ findNodeCrypto();

/** True if `computeMac` works in this runtime. */
export const hasSynchronousCrypto = nodeCrypto !== undefined;

/**
 * Returns the HMAC-SHA256 (RFC 2104) over the parts, 32 bytes. Strings stand for their UTF-8 bytes. Throws SignatureError
 * `crypto_unavailable` without `node:crypto`.
 */
export function computeMac(key: string | Uint8Array, ...parts: ReadonlyArray<string | Uint8Array>): Uint8Array {
  if (nodeCrypto === undefined) {
    throw new SignatureError(
      "crypto_unavailable",
      "this runtime has no node:crypto, which synchronous calls need: use verifyAsync or signAsync",
    );
  }
  const hmac = nodeCrypto.createHmac("sha256", key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/**
 * Returns the HMAC-SHA256 over the bytes of `signedBytes`, by WebCrypto
 * (https://developer.mozilla.org/docs/Web/API/SubtleCrypto/sign). Rejects with SignatureError `crypto_unavailable`
 * without WebCrypto.
 */
export async function computeMacAsync(secret: string, signed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const { crypto } = globalThis as { crypto?: Partial<NodeCrypto.webcrypto.Crypto> };
  if (crypto?.subtle === undefined) {
    throw new SignatureError(
      "crypto_unavailable",
      "this runtime has no crypto.subtle: browsers provide it on https pages and localhost only",
    );
  }
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const rawKey = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", rawKey, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign(algorithm.name, key, signed));
}

/** Returns `<timestamp>.<payload>` as bytes of their own, which no later change of the payload affects. */
export function signedBytes(timestamp: string, payload: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  return concatBytes([
    encoder.encode(`${timestamp}.`),
    typeof payload === "string" ? encoder.encode(payload) : payload,
  ]);
}

/** Compares two byte sequences of the same length in constant time. */
export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (nodeCrypto !== undefined) return nodeCrypto.timingSafeEqual(a, b);
  let difference = 0;
  for (let index = 0; index < a.length; index += 1) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}

/** Returns a copy of the chunks in one Uint8Array. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Returns the bytes as lowercase hex. */
export function toHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15);
  return hex;
}

/** Returns the bytes that an even number of hex digits of either case stands for. */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = (digitAt(hex, 2 * index) << 4) | digitAt(hex, 2 * index + 1);
  }
  return bytes;
}

/** Returns the bytes in base64 (RFC 4648, 4). */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Returns the bytes that a text in base64 stands for, or undefined if it is anything else. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

const DIGITS = "0123456789abcdef";

/** In ASCII, the low four bits of a digit are its value; those of a letter of either case are its value minus 9. */
function digitAt(hex: string, index: number): number {
  const code = hex.charCodeAt(index);
  return (code & 15) + (code > 57 ? 9 : 0);
}

function findNodeCrypto(): typeof NodeCrypto | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (id: string) => unknown } };
  return process?.getBuiltinModule?.("node:crypto") as typeof NodeCrypto | undefined;
}
