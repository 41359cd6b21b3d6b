import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import type { Random } from "../ports.ts";

/** Everything that the master key protects. */
export interface Vault {
  /** Returns the stored form of a key or token: its HMAC-SHA256. */
  digest(credential: string): Buffer;
  /** Encrypts a secret that must be read again. `context` (an ID) binds it to its row. */
  seal(secret: string, context: string): Buffer;
  /** Throws if the text was sealed for another row or with another master key. */
  open(sealed: Uint8Array, context: string): string;
  /** Returns a 16-byte tag over text that clients hold. */
  tag(text: string): Buffer;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Derives one key per purpose from the master key (32 bytes), so that no two uses share one. */
export function createVault(masterKey: Uint8Array, random: Random): Vault {
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", masterKey, "", `service:${purpose}`, 32));
  const digestKey = derive("credential-digest");
  const sealKey = derive("seal");
  const tagKey = derive("tag");
  return {
    digest: (credential) => createHmac("sha256", digestKey).update(credential).digest(),
    tag: (text) => createHmac("sha256", tagKey).update(text).digest().subarray(0, TAG_BYTES),
    seal(secret, context) {
      const iv = random.bytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", sealKey, iv).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), text]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      const decipher = createDecipheriv("aes-256-gcm", sealKey, bytes.subarray(0, IV_BYTES));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
    },
  };
}

/** Returns what is stored instead of an Idempotency-Key: it is the client's own text, which may contain a secret. */
export function digestIdempotencyKey(vault: Vault, key: string): string {
  return vault.digest(`idempotency_key:${key}`).toString("base64url");
}
