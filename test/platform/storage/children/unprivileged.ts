// Opens databases in which only another user may write, and prints the errors.
import { openSqlite } from "../../../../src/platform/storage/sqlite/open.ts";
import { describeError } from "../error-description.ts";

const [scratch = "", ...files] = process.argv.slice(2);
// Load SQLite now: the other user may have no access to it.
await describeError(openSqlite({ file: scratch, migrations: [] }));
if (process.geteuid?.() === 0) process.seteuid?.(65_534);
for (const file of files) {
  process.stdout.write(`${JSON.stringify(await describeError(openSqlite({ file, migrations: [] })))}\n`);
}
