import { hasMasterKey } from "../security/vault.ts";
import { countPending } from "../storage/counts.ts";
import type { Queries } from "../storage/database.ts";
import { MIGRATIONS } from "../storage/migrations/index.ts";

export interface DatabaseStatus {
  engine: "SQLite" | "PostgreSQL";
  engine_version: string;
  /** The newest migration that ran, and the program that ran it. */
  schema: number;
  schema_made_by: string | null;
  /** The newest migration that this program knows. */
  schema_known: number;
  bytes: number;
  /** True once a platform has run on it. */
  initialized: boolean;
  deliveries_pending: number;
}

const FACTS: Record<Queries["dialect"], string> = {
  sqlite: `SELECT sqlite_version() AS version, (SELECT page_count FROM pragma_page_count()) *
             (SELECT page_size FROM pragma_page_size()) AS bytes`,
  postgres: "SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes",
};

export async function statusOf(database: Queries): Promise<DatabaseStatus> {
  const facts = await database.get<{ version: string; bytes: number }>(FACTS[database.dialect]);
  const schema = await database.get<{ number: number; version: string | null }>(
    "SELECT number, version FROM schema_migrations ORDER BY number DESC LIMIT 1",
  );
  const hasSchema = schema !== undefined;
  return {
    engine: database.dialect === "sqlite" ? "SQLite" : "PostgreSQL",
    engine_version: facts!.version,
    schema: schema?.number ?? 0,
    schema_made_by: schema?.version ?? null,
    schema_known: MIGRATIONS.at(-1)?.number ?? 0,
    bytes: facts!.bytes,
    initialized: hasSchema && (await hasMasterKey(database)),
    deliveries_pending: hasSchema ? await countPending(database) : 0,
  };
}
