// Opens a database in a Node.js without SQLite, and prints the error.
import { openSqlite } from "../../../../src/platform/storage/sqlite/open.ts";
import { describeError } from "../error-description.ts";

process.getBuiltinModule = () => undefined;
const [file = ""] = process.argv.slice(2);
const rejection = await describeError(openSqlite({ file, migrations: [] }));
process.stdout.write(`${JSON.stringify(rejection)}\n`);
