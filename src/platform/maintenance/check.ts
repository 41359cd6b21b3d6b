import { OBJECT_KINDS, RESOURCES } from "../../contract/resources.ts";
import { type Queries, StorageUnavailableError } from "../storage/database.ts";
import { isIntact, type StoredBody } from "../storage/event-body.ts";
import { hasUnfinishedCopy } from "./copy.ts";
import { hasMasterKey } from "../security/vault.ts";
import { countPending } from "../storage/counts.ts";
import { MIGRATIONS } from "../storage/migrations/index.ts";

/** Maximum number of problems of a kind that are named. */
const MAX_PROBLEMS = 100;
/** Bodies may be large: few enough for the memory of a small machine. */
const EVENTS = 50;

export interface CheckReport {
  /** One sentence each; empty if the database is intact. */
  problems: string[];
  /** How many rows the main tables have; null if they cannot be read. */
  rows: Record<string, number | null>;
}

/** Tables whose rows are counted, and which belong to an environment. */
const TABLES = [
  ...OBJECT_KINDS.map((kind) => RESOURCES[kind].plural),
  "events",
  "webhook_endpoints",
  "deliveries",
] as const;

/** Rows without the row that they refer to, in tables where the database itself does not enforce it. */
const ORPHANS = [
  ...TABLES.map((table) => ({
    problem: `${table}: the environment of this row is missing:`,
    sql: `SELECT t.id FROM ${table} t WHERE NOT EXISTS (SELECT 1 FROM environments v WHERE v.id = t.environment)`,
  })),
  {
    problem: "deliveries: the event of this pending delivery is missing:",
    sql: `SELECT d.id FROM deliveries d WHERE d.status = 'pending' AND NOT EXISTS (
            SELECT 1 FROM events e WHERE e.environment = d.environment AND e.id = d.event_id)`,
  },
  {
    problem: "attempts: the delivery of this attempt is missing:",
    sql: `SELECT DISTINCT a.delivery_id AS id FROM attempts a
          WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.id = a.delivery_id)`,
  },
];

/**
 * Checks a database for damage: the structure of an SQLite file, event bodies, and references between rows. With
 * `quick`, only the structure, without comparing indexes with tables. Reads only, so the database may be served
 * meanwhile.
 */
export async function checkDatabase(database: Queries, quick = false): Promise<CheckReport> {
  const problems: string[] = [];
  const rows: CheckReport["rows"] = {};
  if (database.dialect === "sqlite") problems.push(...(await reading(() => structuralProblems(database, quick))));
  if (quick) return { problems, rows };
  for (const table of TABLES) {
    const unread = await reading(async () => {
      const row = await database.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`);
      rows[table] = row?.count ?? 0;
      return [];
    });
    if (unread.length > 0) rows[table] = null;
  }
  problems.push(...(await reading(() => damagedBodies(database))));
  for (const { problem, sql } of ORPHANS) {
    problems.push(
      ...(await reading(async () => {
        const orphans = await database.all<{ id: string }>(`${sql} LIMIT ${MAX_PROBLEMS}`);
        return orphans.map(({ id }) => `${problem} ${id}`);
      })),
    );
  }
  if (await hasUnfinishedCopy(database)) problems.push("A copy into this database was not finished: run it again.");
  return { problems: [...new Set(problems)], rows };
}

/** Adds a failed read to the problems, so that one damaged table does not hide the others. */
async function reading(look: () => Promise<string[]>): Promise<string[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    return [error.message];
  }
}

async function structuralProblems(database: Queries, quick: boolean): Promise<string[]> {
  const pragma = quick ? "quick_check" : "integrity_check";
  const found = await database.all<Record<string, string>>(`PRAGMA ${pragma}(${MAX_PROBLEMS})`);
  const problems = found.map((row) => row[pragma]!).filter((text) => text !== "ok");
  if (quick) return problems;
  const violations = await database.all<{ table: string; rowid: number | null; parent: string }>(
    "PRAGMA foreign_key_check",
  );
  for (const { table, rowid, parent } of violations.slice(0, MAX_PROBLEMS)) {
    problems.push(`${table}: a row${rowid === null ? "" : ` (${rowid})`} refers to a missing row of ${parent}.`);
  }
  return problems;
}

async function damagedBodies(database: Queries): Promise<string[]> {
  const problems: string[] = [];
  for (let last = 0; problems.length < MAX_PROBLEMS;) {
    const events = await database.all<{ seq: number; id: string } & StoredBody>(
      `SELECT seq, id, body, body_checksum FROM events WHERE seq > $1 ORDER BY seq LIMIT ${EVENTS}`,
      [last],
    );
    for (const event of events) {
      if (!isIntact(event)) problems.push(`events: the body of ${event.id} does not match its checksum.`);
    }
    const end = events.at(-1);
    if (end === undefined) break;
    last = end.seq;
  }
  return problems;
}

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
