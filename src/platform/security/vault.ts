import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createFolder } from "../../files/folders.ts";
import { MasterKeyError } from "../errors.ts";
import type { Random } from "../ports.ts";
import type { Database, Queries } from "../storage/database.ts";
import { findSetting, insertSetting } from "../storage/settings.ts";
import { flushFolder } from "../storage/sqlite/database-file.ts";

/** Everything that the master key protects. */
export type Vault = ReturnType<typeof createVault>;

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Derives one key per purpose from the master key (32 bytes), so that no two uses share one. */
export function createVault(masterKey: Uint8Array, random: Random) {
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", masterKey, "", `service:${purpose}`, 32));
  const digestKey = derive("credential-digest");
  const sealKey = derive("seal");
  const tagKey = derive("tag");
  return {
    /** Returns the stored form of a key or token: its HMAC-SHA256. */
    digest: (credential: string): Buffer => createHmac("sha256", digestKey).update(credential).digest(),
    /** Returns a 16-byte tag over text that clients hold. */
    tag: (text: string): Buffer => createHmac("sha256", tagKey).update(text).digest().subarray(0, TAG_BYTES),
    /** Encrypts a secret that must be read again. `context` (an ID) binds it to its row. */
    seal(secret: string, context: string): Buffer {
      const iv = random.bytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", sealKey, iv).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), text]);
    },
    /** Throws if the text was sealed for another row or with another master key. */
    open(sealed: Uint8Array, context: string): string {
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

const KEY_BYTES = 32;
const CHECK_SETTING = "master_key_check";

/** Parses a master key given as text: 32 bytes in hex or base64. Throws MasterKeyError. */
export function parseMasterKey(text: string): Buffer {
  const trimmed = text.trim();
  const key = /^[0-9a-fA-F]{64}$/.test(trimmed) ? Buffer.from(trimmed, "hex") : Buffer.from(trimmed, "base64");
  if (key.length !== KEY_BYTES) throw new MasterKeyError("The master key must be 32 bytes in hex or base64.");
  return key;
}

/**
 * Reads the key file, or creates one that only its owner may read. It is on disk before anything is sealed with it.
 * Throws MasterKeyError.
 */
export function loadMasterKeyFile(file: string): Buffer {
  try {
    createFolder(dirname(file));
    writeFileSync(file, `${randomBytes(KEY_BYTES).toString("hex")}\n`, { flag: "wx", mode: 0o600, flush: true });
    flushFolder(dirname(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw new MasterKeyError(`The master key file ${file} cannot be created: ${(error as Error).message}`);
    }
  }
  try {
    chmodSync(file, 0o600);
    return parseMasterKey(readFileSync(file, "utf8"));
  } catch (error) {
    throw new MasterKeyError(`The master key file ${file} cannot be used: ${(error as Error).message}`);
  }
}

/** Returns true if the database was created with a master key, whichever it is. */
export async function hasMasterKey(queries: Queries): Promise<boolean> {
  return (await findSetting(queries, CHECK_SETTING)) !== undefined;
}

/** Rejects a database that was created with another master key: its keys and secrets could not be read. */
export async function assertMasterKey(database: Database, vault: Vault): Promise<void> {
  const check = vault.digest(CHECK_SETTING);
  await database.write((tx) => insertSetting(tx, CHECK_SETTING, check));
  const stored = await findSetting(database, CHECK_SETTING);
  if (stored !== undefined && check.equals(stored)) return;
  throw new MasterKeyError(
    "The database was created with another master key. Pass that key (SERVICE_MASTER_KEY or its file).",
  );
}
