import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../../../src/platform/storage/database.ts";
import { openDatabase } from "../../../src/platform/storage/open-database.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { usePostgres } from "../../support/postgres.ts";
import type { TestDatabase } from "./subject.ts";

/** Creates a folder for one test. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "storage-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Creates a location for an SQLite file in a separate folder. */
export async function sqliteTestDatabase(): Promise<TestDatabase> {
  const folder = temporaryFolder();
  return {
    open: (migrations) => openSqlite({ file: join(folder.path, "data.db"), migrations }),
    remove: async () => folder.remove(),
  };
}

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export const ENGINES = ["SQLite", "PostgreSQL"] as const;

/** Opens an empty database with the platform's schema. */
export async function openPlatformDatabase(
  engine: (typeof ENGINES)[number],
): Promise<{ database: Database; remove: () => Promise<void> }> {
  const place = await PLACES[engine]();
  const database = await openDatabase({ database: place.url, version: "test", log: LOG });
  const remove = async () => {
    await database.close();
    await place.remove();
  };
  return { database, remove };
}

const PLACES = {
  async SQLite() {
    const folder = temporaryFolder();
    return { url: join(folder.path, "platform.db"), remove: async () => folder.remove() };
  },
  async PostgreSQL() {
    const server = await usePostgres();
    return { url: await server.createDatabase(), remove: () => server.remove() };
  },
};
