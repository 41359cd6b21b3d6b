// Opens a PostgreSQL database with one migration more than the platform has.
import { MIGRATIONS } from "../../../../src/platform/storage/migrations/index.ts";
import { openPostgres } from "../../../../src/platform/storage/postgres/open.ts";

const later = {
  number: MIGRATIONS.length + 1,
  name: "later",
  statements: () => [
    "ALTER TABLE replays ADD COLUMN note TEXT",
    "CREATE INDEX attempts_by_status ON attempts (status_code)",
  ],
};

const database = await openPostgres({
  url: process.argv[2] ?? "",
  migrations: [...MIGRATIONS, later],
  version: "0.2.0",
});
await database.close();
