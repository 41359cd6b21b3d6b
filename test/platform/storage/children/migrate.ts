// Opens a database and kills itself just before the n-th statement of its migrations (from 0).
import { Connection } from "../../../../src/platform/storage/sqlite/connection.ts";
import { openSqlite } from "../../../../src/platform/storage/sqlite/open.ts";
import { notes, tags } from "../notes.ts";

const [file = "", last = ""] = process.argv.slice(2);
let left = Number(last);

const exec = Object.getOwnPropertyDescriptor(Connection.prototype, "exec")?.value as (sql: string) => void;
Connection.prototype.exec = function (sql) {
  if (/^CREATE TABLE (notes|counters|tags)|^INSERT INTO tags/.test(sql) && left-- === 0) {
    process.kill(process.pid, "SIGKILL");
  }
  exec.call(this, sql);
};

const database = await openSqlite({ file, migrations: [notes, tags] });
await database.close();
