import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { assertLogBelongs, stampCopy } from "../storage/sqlite/commit-stamps.ts";
import { Connection } from "../storage/sqlite/connection.ts";
import { flushFile, flushFolder } from "../storage/sqlite/database-file.ts";
import { isPostgresUrl, StorageOpenError } from "../storage/database.ts";
import type { ConnectionSettings } from "../storage/postgres/settings.ts";
import { driverFolder, loadSqlite } from "../storage/sqlite/runtime.ts";
import { BackupError } from "../errors.ts";

/**
 * Writes a consistent copy of a database, even while it is served: another SQLite file for an SQLite file, an archive
 * for pg_restore for PostgreSQL. Only the owner can read the file. It gets its name once it is complete and durable, so
 * a file of that name is always a whole backup. Throws BackupError, and StorageOpenError if the database cannot be
 * read.
 */
export async function backUp(
  { database, authorities }: { database: string; authorities?: string | undefined },
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<{ bytes: number }> {
  if (existsSync(file)) throw alreadyExists(file);
  const partial = `${file}.partial-${randomBytes(4).toString("hex")}`;
  const archive = createFile(partial, file);
  try {
    if (isPostgresUrl(database)) await dump({ url: database, authorities }, archive, env);
    else await copyFile(database, partial, driverFolder(env));
    flushFile(partial);
    giveName(partial, file);
    flushFolder(dirname(file));
    return { bytes: statSync(file).size };
  } finally {
    closeSync(archive);
    rmSync(partial, { force: true });
  }
}

function alreadyExists(file: string): BackupError {
  return new BackupError(`${file} already exists. Choose another file, or delete it.`);
}

function createFile(partial: string, file: string): number {
  try {
    return openSync(partial, "wx", 0o600);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "its folder does not exist" : message;
    throw new BackupError(`${file} cannot be written: ${reason}`, { cause });
  }
}

/** Never replaces a file that appeared meanwhile, if the file system supports links. */
function giveName(partial: string, file: string): void {
  try {
    linkSync(partial, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" || existsSync(file)) throw alreadyExists(file);
    renameSync(partial, file);
  }
}

async function copyFile(database: string, file: string, driver: string | undefined): Promise<void> {
  if (!existsSync(database)) throw new StorageOpenError("missing", `${database} does not exist`);
  const sqlite = await loadSqlite(driver);
  assertLogBelongs(database);
  const source = new Connection(sqlite, database, { readOnly: true });
  try {
    source.exec("PRAGMA busy_timeout = 5000");
    // VACUUM INTO accepts an existing file that is empty.
    source.exec(`VACUUM INTO '${file.replaceAll("'", "''")}'`);
    const copy = new Connection(sqlite, file);
    stampCopy(copy);
    copy.close();
  } catch (cause) {
    throw new BackupError(`${database} cannot be backed up: ${(cause as Error).message}`, { cause });
  } finally {
    source.close();
  }
}

/** Saves only the platform's schema if it has one of its own: other schemas belong to other programs. */
async function dump(settings: ConnectionSettings, archive: number, env: NodeJS.ProcessEnv): Promise<void> {
  const { schemaNameOf, readUrlForPrograms } = await import("../storage/postgres/settings.ts");
  const schema = await schemaNameOf(settings);
  const { url, password } = readUrlForPrograms(settings);
  const args = ["--format=custom", `--dbname=${url}`];
  if (schema !== null && schema !== "public") args.push(`--schema="${schema.replaceAll('"', '""')}"`);
  const child = spawn("pg_dump", args, {
    env: password === undefined ? env : { ...env, PGPASSWORD: password },
    stdio: ["ignore", archive, "pipe"],
  });
  let complaint = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      reject(new BackupError("pg_dump was not found: install PostgreSQL's client programs.", { cause }));
    });
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new BackupError(`pg_dump exited with ${code}: ${complaint.trim()}`));
    });
  });
}
