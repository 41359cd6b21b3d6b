// Writes notes as fast as possible, many concurrently, and prints the ID of each acknowledged one: until it is killed, or
// until a number of notes is written, and then closes the database.
import { openSqlite } from "../../../../src/platform/storage/sqlite/open.ts";
import { insert, notes } from "../notes.ts";

const [file = "", prefix = "", count = "Infinity"] = process.argv.slice(2);
const database = await openSqlite({ file, migrations: [notes] });
let next = 0;

async function writeOn(): Promise<void> {
  while (next < Number(count)) {
    const id = `${prefix}-${next++}`;
    await database.write((transaction) => insert(transaction, id, "x".repeat(500)));
    process.stdout.write(`${id}\n`);
  }
}

await Promise.all(Array.from({ length: 16 }, writeOn));
await database.close();
