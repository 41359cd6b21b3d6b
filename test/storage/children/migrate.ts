// Opens a database and kills itself just before the n-th statement of its migrations (from 0).
import type { Migration } from "../../../src/platform/storage/migrations/migration.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { notes, tags } from "../notes.ts";

const [file = "", last = ""] = process.argv.slice(2);
let left = Number(last);

const dying = [notes, tags].map((migration): Migration => ({
  number: migration.number,
  name: migration.name,
  statements: (types) => {
    const statements = migration.statements(types);
    return Object.defineProperties(
      [...statements],
      Object.fromEntries(
        statements.map((statement, index) => [
          index,
          {
            get: () => {
              if (left-- === 0) process.kill(process.pid, "SIGKILL");
              return statement;
            },
          },
        ]),
      ),
    );
  },
}));

const database = await openSqlite({ file, migrations: dying });
await database.close();
