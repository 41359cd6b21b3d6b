import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { addPostgresOptions } from "../../database/options.ts";
import type { CheckOptions, DbOptions, RestoreOptions } from "./run.ts";

const DATABASE = "SQLite file, or a postgres:// URL (default: platform.db in the XDG data folder)";

/** `service db`: manages the platform's database. */
export function register(program: Command, context: Context): void {
  const db = program.command("db").description("Back up, restore, check and migrate the platform's database");
  addExamples(db, [
    "service db status",
    "service db backup ./platform-backup.db",
    "service db restore ./platform-backup.db",
    "service db copy ./platform.db postgres://service@db.example.com/service",
  ]);
  const withDatabase = (name: string) => addPostgresOptions(db.command(name)).option("--database <file|url>", DATABASE);

  const status = withDatabase("status")
    .description("Show the engine, schema version and size")
    .action(async (options: DbOptions) => {
      const { runStatus } = await import("./run.ts");
      await runStatus(options, context);
    });
  addExamples(status, ["service db status", "service db status --database postgres://service@localhost/service"]);

  const migrate = withDatabase("migrate")
    .description("Apply pending schema migrations")
    .action(async (options: DbOptions) => {
      const { runMigrate } = await import("./run.ts");
      await runMigrate(options, context);
    });
  addExamples(migrate, ["service db migrate --database postgres://service@localhost/service"]);

  const backup = withDatabase("backup <file>")
    .description("Write a consistent backup, also while the platform is running (PostgreSQL: pg_dump)")
    .action(async (file: string, options: DbOptions) => {
      const { runBackup } = await import("./run.ts");
      await runBackup(file, options, context);
    });
  addExamples(backup, ["service db backup ./backup.db", "service db backup ./backup.dump --database postgres://…"]);

  const restore = db
    .command("restore <file>")
    .description("Restore an SQLite database from a backup; the platform must be stopped")
    .option("--database <file>", "SQLite file to replace (default: platform.db in the XDG data folder)")
    .option("--yes", "Skip the confirmation")
    .action(async (file: string, options: RestoreOptions) => {
      const { runRestore } = await import("./run.ts");
      await runRestore(file, options, context);
    });
  addExamples(restore, ["service db restore ./backup.db", "service db restore ./backup.db --database ./platform.db"]);

  const check = withDatabase("check")
    .description("Check the database for corruption, also while the platform is running")
    .option("--quick", "Check only the structure of an SQLite file, not its rows and indexes")
    .action(async (options: CheckOptions) => {
      const { runCheck } = await import("./run.ts");
      await runCheck(options, context);
    });
  addExamples(check, ["service db check", "service db check --database ./backup.db"]);

  const copy = addPostgresOptions(db.command("copy <from> <to>"))
    .description("Copy an SQLite file into an empty PostgreSQL database and compare them; can be resumed")
    .action(async (from: string, to: string, options: DbOptions) => {
      const { runCopy } = await import("./run.ts");
      await runCopy(from, to, options, context);
    });
  addExamples(copy, ["service db copy ./platform.db postgres://service@db.example.com/service"]);

  const driver = db
    .command("install-driver")
    .description("Download the SQLite driver that Node.js before 22.13 needs from the npm registry")
    .action(async () => {
      const { runInstallDriver } = await import("../../database/driver.ts");
      await runInstallDriver(context);
    });
  addExamples(driver, ["service db install-driver"]);
}
