import { insertRow } from "./batches.ts";
import type { Queries, Transaction } from "./database.ts";

/** The public URL of the API, written by the last process to start. */
export const PUBLIC_URL_SETTING = "public_url";

/** When the clock was last trusted, in Unix milliseconds. */
export const TRUSTED_TIME_SETTING = "trusted_time";

/** Returns a setting of the whole deployment. */
export async function findSetting(queries: Queries, name: string): Promise<Uint8Array | undefined> {
  return (await queries.get<{ value: Uint8Array }>("SELECT value FROM settings WHERE name = $1", [name]))?.value;
}

/** Stores a value unless there is one. */
export async function insertSetting(tx: Transaction, name: string, value: Uint8Array): Promise<void> {
  await insertRow(tx, "settings", { name, value }, "ON CONFLICT DO NOTHING");
}

/** Stores a value in place of any earlier one. */
export async function putSetting(tx: Transaction, name: string, value: Uint8Array): Promise<void> {
  await insertRow(tx, "settings", { name, value }, "ON CONFLICT (name) DO UPDATE SET value = excluded.value");
}
