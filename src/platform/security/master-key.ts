import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createFolder } from "../../files/folders.ts";
import { flushFolder } from "../storage/sqlite/database-file.ts";
import type { Database, Queries } from "../storage/database.ts";
import { findSetting, insertSetting } from "../storage/settings.ts";
import type { Vault } from "./vault.ts";
import { MasterKeyError } from "../errors.ts";

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
