import { spawn } from "node:child_process";
import { chmodSync, existsSync, statSync } from "node:fs";
import { isPostgresUrl } from "../storage/database-url.ts";
import { loadSqlite } from "../storage/sqlite-runtime.ts";

/** The backup could not be made, and why. */
export class BackupError extends Error {
  override name = "BackupError";
}

/**
 * Writes a consistent copy of a database, whether it is served meanwhile or not: of an SQLite file another SQLite file,
 * of PostgreSQL an archive for pg_restore. The file is its owner's alone. Throws BackupError.
 */
export async function backUp(database: string, file: string, env: NodeJS.ProcessEnv): Promise<{ bytes: number }> {
  if (existsSync(file)) throw new BackupError(`${file} is there already. Name another file, or remove that one.`);
  if (isPostgresUrl(database)) await dump(database, file, env);
  else await copyFile(database, file);
  chmodSync(file, 0o600);
  return { bytes: statSync(file).size };
}

async function copyFile(database: string, file: string): Promise<void> {
  if (!existsSync(database)) throw new BackupError(`${database} is not there.`);
  const { DatabaseSync } = await loadSqlite();
  const source = new DatabaseSync(database, { readOnly: true });
  try {
    source.exec("PRAGMA busy_timeout = 5000");
    source.exec(`VACUUM INTO '${file.replaceAll("'", "''")}'`);
  } catch (cause) {
    throw new BackupError(`${database} cannot be backed up: ${(cause as Error).message}`, { cause });
  } finally {
    source.close();
  }
}

/** The password goes by the environment: arguments can be seen by everybody on the machine. */
function dump(database: string, file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const url = new URL(database);
  const password = decodeURIComponent(url.password);
  url.password = "";
  const args = ["--format=custom", "--no-owner", `--file=${file}`, `--dbname=${url.href}`];
  const child = spawn("pg_dump", args, {
    env: password === "" ? env : { ...env, PGPASSWORD: password },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      reject(new BackupError("pg_dump is not there: install PostgreSQL's client programs.", { cause }));
    });
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new BackupError(`pg_dump ended with ${code}: ${complaint.trim()}`));
    });
  });
}
