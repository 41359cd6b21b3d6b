import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { shellCommand } from "../../../contract/shell-command.ts";
import {
  backUp,
  BackupError,
  checkDatabase,
  copyDatabase,
  CopyError,
  type DatabaseReader,
  type DatabaseSettings,
  type DatabaseStatus,
  describeDatabase,
  driverFolder,
  isPostgresUrl,
  openDatabase,
  openReader,
  restore,
  RestoreError,
  statusOf,
  StorageUnavailableError,
} from "../../../platform/index.ts";
import { counted, grouped } from "../../../contract/words.ts";
import type { Context } from "../../context.ts";
import { UsageError, UserError } from "../../errors.ts";
import { printable } from "../../terminal/printable.ts";
import { type Column, viewOf } from "../../terminal/view.ts";
import type { PostgresOptions } from "../../database/options.ts";
import { databaseError, deploymentSettings, namedDatabase, noteNewFolder } from "../../database/settings.ts";

export interface DbOptions extends PostgresOptions {
  database?: string;
}

export interface RestoreOptions {
  database?: string;
  yes?: boolean;
}

export interface CheckOptions extends DbOptions {
  quick?: boolean;
}

export type Status = DatabaseStatus & { database: string };

const DETAILS: readonly Column<Status>[] = [
  { label: "Database", text: ({ database }) => database },
  { label: "Engine", text: ({ engine, engine_version: version }) => `${engine} ${version}` },
  { label: "Schema", text: ({ schema, schema_known: known }) => `${schema} of ${known}` },
  { label: "Bytes", text: ({ bytes }, { terminal }) => (terminal ? grouped(bytes) : String(bytes)) },
  { label: "Initialized", text: ({ initialized }) => (initialized ? "yes" : "no") },
  { label: "Deliveries pending", text: ({ deliveries_pending: pending }) => String(pending) },
];

/** Shows the database without changing it. */
export async function runStatus(context: Context, options: DbOptions): Promise<void> {
  const name = namedDatabase(options, context);
  await showStatus(name, await open(openReader, name, options, context), context);
}

/** Migrates the schema, unless only the version is to be shown, and shows the database. */
export async function runMigrate(context: Context, options: DbOptions): Promise<void> {
  if (context.globals.dryRun) return await runStatus(context, options);
  const name = namedDatabase(options, context);
  if (options.database !== undefined) noteNewFolder(name, context);
  await showStatus(name, await open(openDatabase, name, options, context), context);
}

async function showStatus(name: string, database: DatabaseReader, context: Context): Promise<void> {
  try {
    const status = await statusOf(database);
    const shown = { database: describeDatabase(name), ...status };
    await context.output.object(shown, { ...viewOf("database", shown), details: DETAILS });
    const pending = counted(status.schema_known - status.schema, "pending migration");
    if (context.globals.dryRun) context.output.notice(`${pending}. Nothing was changed.`);
  } finally {
    await database.close();
  }
}

export async function runBackup(context: Context, file: string, options: DbOptions): Promise<void> {
  const name = namedDatabase(options, context);
  const path = resolve(context.cwd, file);
  const settings = { database: name, authorities: options.databaseCa };
  const { bytes } = await backUp(settings, path, context.env).catch((error: unknown) => {
    if (!(error instanceof BackupError)) throw asUserError(error, name);
    throw new UserError(error.message, { code: "backup_failed", cause: error });
  });
  if (context.output.json)
    return await context.output.document({ database: describeDatabase(name), file: path, bytes });
  context.output.line(path);
  context.output.note(
    `Backed up ${describeDatabase(name)}: ${grouped(bytes)} bytes. The backup does not contain the master key: back that up separately.`,
  );
}

/** Replaces a database with a backup. Throws UsageError if replacing one was not confirmed. */
export async function runRestore(context: Context, file: string, options: RestoreOptions): Promise<void> {
  const { output, env } = context;
  const database = namedDatabase(options, context);
  if (isPostgresUrl(database)) {
    throw new UsageError("db restore works on SQLite files only; restore a PostgreSQL backup with pg_restore", {
      hint:
        "Create an empty database, restore into it, and start the platform on it:\n" +
        shellCommand`pg_restore --single-transaction --no-owner --no-privileges --dbname=postgres://USER@HOST/NEW_DATABASE ${file}`,
    });
  }
  const stamp = new Date(context.now()).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const backup = existingFile(file, context);
  const { rows, previous } = await restore(backup, database, {
    stamp,
    driver: driverFolder(env),
    confirm: options.yes === true ? undefined : () => confirmReplacing(database, context),
  }).catch((error: unknown) => {
    if (!(error instanceof RestoreError)) throw asUserError(error, database);
    throw new UserError(error.message, { code: "restore_failed", cause: error });
  });
  if (output.json) {
    return await output.document({ database, restored_from: backup, previous: previous ?? null, rows });
  }
  output.success(`Restored ${database}`);
  for (const line of countLines(rows, output)) output.line(line);
  if (previous !== undefined)
    output.note(`The previous database was renamed to ${previous}. Delete it when you no longer need it.`);
  if (!env["SERVICE_MASTER_KEY"] && !existsSync(`${database}.key`))
    output.note(`Put the master key of the backup into ${database}.key.`);
}

/** Returns a line for each table: columns on a terminal, separated by a tab in a pipe. */
function countLines(rows: Readonly<Record<string, number | null>>, output: Context["output"]): string[] {
  return alignedLines(
    Object.entries(rows).map(([table, count]) => [table, count === null ? "unreadable" : String(count)]),
    output,
  );
}

/** Returns a line for each table: its name, its count, and what follows. */
function alignedLines(tables: readonly (readonly string[])[], { terminal }: Context["output"]): string[] {
  if (!terminal) return tables.map((cells) => cells.join("\t"));
  const width = (at: 0 | 1): number => Math.max(...tables.map((cells) => cells[at]!.length));
  const [nameWidth, countWidth] = [width(0), width(1)];
  return tables.map(([name = "", count = "", ...rest]) =>
    [name.padEnd(nameWidth), count.padStart(countWidth), ...rest].join("  "),
  );
}

async function confirmReplacing(database: string, context: Context): Promise<void> {
  if (!existsSync(database)) return;
  const consequence = `${database} will be replaced`;
  if (!context.interactive) {
    throw new UsageError(`${consequence}. Without a terminal, --yes is required`, {
      code: "confirmation_required",
    });
  }
  const changed = statSync(database).mtime.toISOString();
  context.output.warn(`${consequence}. It was last modified at ${changed}; a renamed copy is kept next to it.`);
  const typed = await context.prompts.text({ message: "Type restore to continue:", flag: "--yes" });
  if (typed.trim() !== "restore") throw new UserError("Restore canceled", { code: "not_confirmed" });
}

/** Counting all events takes longer than the timeout of a request. */
const CHECK_SECONDS = 3600;

/** Checks for damage. Exits with 1 if there is any. */
export async function runCheck(context: Context, options: CheckOptions): Promise<void> {
  const { output } = context;
  const name = namedDatabase(options, context);
  const database = await open(openReader, name, { databaseTimeout: CHECK_SECONDS, ...options }, context);
  const { problems, rows } = await checkDatabase(database, options.quick);
  await database.close();
  const intact = problems.length === 0;
  if (output.json) await output.document({ database: describeDatabase(name), intact, problems, rows });
  else {
    for (const line of countLines(rows, output)) output.line(line);
    for (const problem of problems) output.line(printable(problem));
    if (intact) output.success(`${describeDatabase(name)} is intact`);
  }
  if (!intact) {
    throw new UserError(`${describeDatabase(name)} is corrupt: ${problems.length} problems`, {
      hint: "Restore a backup: service db restore FILE",
      code: "damaged",
    });
  }
}

export async function runCopy(context: Context, from: string, to: string, options: DbOptions): Promise<void> {
  if (isPostgresUrl(from) || !isPostgresUrl(to)) {
    throw new UsageError("db copy requires an SQLite file and the URL of a PostgreSQL database", {
      hint: "service db copy ./platform.db postgres://service@db.example.com/service",
    });
  }
  const { output } = context;
  const file = existingFile(from, context);
  const source = await open(openDatabase, file, options, context);
  try {
    const target = await open(openDatabase, to, options, context);
    try {
      const counts = new Map<string, number>();
      const tables = await copyDatabase(source, target, (table, rows) => {
        const count = (counts.get(table) ?? 0) + rows;
        counts.set(table, count);
        output.note(`${table}  ${count}`);
      });
      if (output.json) await output.document({ from: file, to: describeDatabase(to), tables });
      else {
        const cells = tables.map(({ name, rows, checksum }) => [name, String(rows), checksum.slice(0, 16)]);
        for (const line of alignedLines(cells, output)) output.line(line);
        output.success(`Copied ${file} to ${describeDatabase(to)}: row counts and checksums match`);
        output.note("Start the platform with the master key of the SQLite file.");
      }
    } finally {
      await target.close();
    }
  } catch (error) {
    if (!(error instanceof CopyError || error instanceof StorageUnavailableError)) throw error;
    throw new UserError(error.message, {
      ...(error instanceof CopyError ? {} : { hint: "Run the command again to resume." }),
      code: "copy_failed",
      cause: error,
    });
  } finally {
    await source.close();
  }
}

function existingFile(name: string, { cwd }: Context): string {
  const file = resolve(cwd, name);
  if (!existsSync(file)) throw new UsageError(`${file} does not exist`, { code: "missing" });
  return file;
}

async function open<Opened>(
  openIt: (settings: DatabaseSettings) => Promise<Opened>,
  name: string,
  options: DbOptions,
  context: Context,
): Promise<Opened> {
  try {
    return await openIt(deploymentSettings(name, options, context));
  } catch (error) {
    throw asUserError(error, name);
  }
}

function asUserError(error: unknown, database: string): unknown {
  const create = shellCommand`service serve --database ${database}`;
  return databaseError(error, { missing: `To create it: ${create}\nOr pass another file with --database.` });
}
