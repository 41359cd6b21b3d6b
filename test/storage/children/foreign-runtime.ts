// Opens a database as under a Node.js without SQLite of its own, and prints why it could not.
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { describeRefusal } from "../refusal.ts";

process.getBuiltinModule = () => undefined;
const [file = ""] = process.argv.slice(2);
const refusal = await describeRefusal(openSqlite({ file, migrations: [] }));
process.stdout.write(`${JSON.stringify(refusal)}\n`);
