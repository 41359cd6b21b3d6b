import { type CommandDefinition, type Flag, flag } from "../../command.ts";
import { POSTGRES_FLAGS } from "../../database/options.ts";
import { documentView } from "../../terminal/view.ts";
import type { Status } from "./run.ts";

const STATUS = documentView<Status>("database", [
  "database",
  "engine",
  "engine_version",
  "schema",
  "schema_made_by",
  "schema_known",
  "bytes",
  "initialized",
  "deliveries_pending",
]);

const DATABASE: readonly Flag[] = [
  ...POSTGRES_FLAGS,
  flag(
    "--database <file|url>",
    "SQLite file, or a postgres:// URL (default: the one in service.yaml, or ~/.local/share/service/platform.db)",
  ),
];

/** `service db`: manages the platform's database. */
export const command: CommandDefinition = {
  name: "db",
  about: "Back up, restore, check and migrate the platform's database",
  examples: [
    "service db status",
    "service db backup ./platform-backup.db",
    "service db restore ./platform-backup.db",
    "service db copy ./platform.db postgres://service@db.example.com/service # From SQLite to PostgreSQL",
  ],
  commands: [
    {
      name: "status",
      about: "Show the engine, schema version and size",
      options: DATABASE,
      fields: STATUS,
      examples: ["service db status", "service db status --database postgres://service@localhost/service"],
      load: async () => (await import("./run.ts")).runStatus,
    },
    {
      name: "migrate",
      about: "Apply pending schema migrations",
      options: DATABASE,
      dryRun: "Show the schema version and the number of pending migrations, without applying them",
      fields: STATUS,
      examples: ["service db migrate --dry-run # Count pending migrations", "service db migrate"],
      load: async () => (await import("./run.ts")).runMigrate,
    },
    {
      name: "backup",
      about: "Write a consistent backup, even while the platform is running (PostgreSQL: pg_dump)",
      args: [{ arg: "<file>", about: "File to write the backup to" }],
      options: DATABASE,
      examples: ["service db backup ./backup.db", "service db backup ./backup.dump --database postgres://…"],
      load: async () => (await import("./run.ts")).runBackup,
    },
    {
      name: "restore",
      about: "Restore an SQLite database from a backup; the platform must be stopped",
      args: [{ arg: "<file>", about: "Backup to restore" }],
      options: [
        flag(
          "--database <file>",
          "SQLite file to replace (default: the one in service.yaml, or ~/.local/share/service/platform.db)",
        ),
        flag("--yes", "Skip the confirmation"),
      ],
      examples: ["service db restore ./backup.db", "service db restore ./backup.db --database ./platform.db"],
      load: async () => (await import("./run.ts")).runRestore,
    },
    {
      name: "check",
      about: "Check the database for corruption, even while the platform is running",
      options: [...DATABASE, flag("--quick", "Check only the structure of an SQLite file, not its rows and indexes")],
      examples: ["service db check", "service db check --database ./backup.db # Check a backup"],
      load: async () => (await import("./run.ts")).runCheck,
    },
    {
      name: "copy",
      about: "Copy an SQLite file into an empty PostgreSQL database and compare them; can be resumed",
      args: [
        { arg: "<from>", about: "SQLite file to copy" },
        { arg: "<to>", about: "URL of the empty PostgreSQL database" },
      ],
      options: POSTGRES_FLAGS,
      examples: ["service db copy ./platform.db postgres://service@db.example.com/service # From SQLite to PostgreSQL"],
      load: async () => (await import("./run.ts")).runCopy,
    },
    {
      name: "install-driver",
      about: "Download the SQLite driver that Node.js before 22.13 needs from the npm registry",
      examples: ["service db install-driver"],
      load: async () => (await import("../../database/driver.ts")).runInstallDriver,
    },
  ],
};
