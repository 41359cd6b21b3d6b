// Opens a database and holds it until it is killed.
import { openSqlite } from "../../../../src/platform/storage/sqlite/open.ts";
import { notes } from "../notes.ts";

await openSqlite({ file: process.argv[2] ?? "", migrations: [notes] });
process.stdout.write("open\n");
process.stdin.resume();
