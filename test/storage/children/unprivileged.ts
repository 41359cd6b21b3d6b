// Opens databases where only another user may write, and prints why it could not.
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { describeError } from "../error-description.ts";

const [scratch = "", ...files] = process.argv.slice(2);
// SQLite is loaded now: where it lies may be out of the other user's reach.
await describeError(openSqlite({ file: scratch, migrations: [] }));
if (process.geteuid?.() === 0) process.seteuid?.(65_534);
for (const file of files) {
  process.stdout.write(`${JSON.stringify(await describeError(openSqlite({ file, migrations: [] })))}\n`);
}
