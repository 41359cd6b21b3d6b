import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { addPostgresOptions, type PostgresOptions } from "../serve/postgres-options.ts";

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

const DATABASE = "SQLite file (default: platform.db under the XDG data folder), or postgres://…";

/** `service db`: what an operator does to the platform's database. */
export function register(program: Command, context: Context): void {
  const db = program.command("db").description("Back up, restore, check and migrate the platform's database.");
  addExamples(db, [
    "service db status",
    "service db backup ./platform-backup.db",
    "service db restore ./platform-backup.db",
    "service db copy ./platform.db postgres://service@db.example.com/service",
  ]);
  const withDatabase = (name: string) => addPostgresOptions(db.command(name)).option("--database <file|url>", DATABASE);

  const status = withDatabase("status")
    .description("Show engine, schema and size, served meanwhile or not")
    .action(async (options: DbOptions) => {
      const { runStatus } = await import("./run.ts");
      await runStatus(options, context);
    });
  addExamples(status, ["service db status", "service db status --database postgres://service@localhost/service"]);

  const migrate = withDatabase("migrate")
    .description("Bring the schema up to date, as the next start of the platform would")
    .action(async (options: DbOptions) => {
      const { runMigrate } = await import("./run.ts");
      await runMigrate(options, context);
    });
  addExamples(migrate, ["service db migrate --database postgres://service@localhost/service"]);

  const backup = withDatabase("backup <file>")
    .description("Write a consistent copy, while the platform runs or not (PostgreSQL: by pg_dump)")
    .action(async (file: string, options: DbOptions) => {
      const { runBackup } = await import("./run.ts");
      await runBackup(file, options, context);
    });
  addExamples(backup, ["service db backup ./backup.db", "service db backup ./backup.dump --database postgres://…"]);

  const restore = db
    .command("restore <file>")
    .description("Replace an SQLite database with a backup; the platform must be stopped")
    .option("--database <file>", "SQLite file to replace (default: platform.db under the XDG data folder)")
    .option("--yes", "Do not ask before replacing a database")
    .action(async (file: string, options: RestoreOptions) => {
      const { runRestore } = await import("./run.ts");
      await runRestore(file, options, context);
    });
  addExamples(restore, ["service db restore ./backup.db", "service db restore ./backup.db --database ./platform.db"]);

  const check = withDatabase("check")
    .description("Look for damage, while the platform runs or not; exit 1 if there is any")
    .option("--quick", "Check an SQLite file's structure only, not its rows and indexes")
    .action(async (options: CheckOptions) => {
      const { runCheck } = await import("./run.ts");
      await runCheck(options, context);
    });
  addExamples(check, ["service db check", "service db check --database ./backup.db"]);

  const copy = addPostgresOptions(db.command("copy <from> <to>"))
    .description("Copy an SQLite file into an empty PostgreSQL database, and compare them; may be run again")
    .action(async (from: string, to: string, options: DbOptions) => {
      const { runCopy } = await import("./run.ts");
      await runCopy(from, to, options, context);
    });
  addExamples(copy, ["service db copy ./platform.db postgres://service@db.example.com/service"]);
}
