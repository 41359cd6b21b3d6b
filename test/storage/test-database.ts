import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "../../src/platform/storage/sqlite/open.ts";
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
