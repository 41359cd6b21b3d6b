import type { Queries, Transaction } from "./database.ts";

/** Where clients reach the API, as the last process to start said. */
export const PUBLIC_URL_SETTING = "public_url";

/** When, in Unix milliseconds, the clock was last trusted. */
export const TRUSTED_TIME_SETTING = "trusted_time";

/** Facts about the deployment as a whole. */
export async function findSetting(queries: Queries, name: string): Promise<Uint8Array | undefined> {
  return (await queries.get<{ value: Uint8Array }>("SELECT value FROM settings WHERE name = $1", [name]))?.value;
}

/** Keeps the first value that is given. */
export async function insertSetting(tx: Transaction, name: string, value: Uint8Array): Promise<void> {
  await tx.run("INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", [name, value]);
}

/** Keeps the last value that is given. */
export async function putSetting(tx: Transaction, name: string, value: Uint8Array): Promise<void> {
  await tx.run(
    "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [name, value],
  );
}
