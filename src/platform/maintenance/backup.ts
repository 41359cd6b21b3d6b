import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { isPostgresUrl } from "../storage/database-url.ts";
import type { ConnectionSettings } from "../storage/postgres/settings.ts";
import { loadSqlite } from "../storage/sqlite-runtime.ts";

/** The backup could not be made, and why. */
export class BackupError extends Error {
  override name = "BackupError";
}

/**
 * Writes a consistent copy of a database, whether it is served meanwhile or not: of an SQLite file another SQLite file,
 * of PostgreSQL an archive for pg_restore. The file is its owner's alone, and gone again where that fails. Throws
 * BackupError, and StorageOpenError where PostgreSQL cannot be reached.
 */
export async function backUp(
  { database, authorities }: { database: string; authorities?: string | undefined },
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<{ bytes: number }> {
  const archive = createFile(file);
  try {
    if (isPostgresUrl(database)) await dump({ url: database, authorities }, archive, env);
    else await copyFile(database, file);
    return { bytes: statSync(file).size };
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(archive);
  }
}

function createFile(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === "EEXIST";
    const problem = isThere
      ? "is there already. Name another file, or remove that one."
      : `cannot be written: ${(cause as Error).message}`;
    throw new BackupError(`${file} ${problem}`, { cause });
  }
}

async function copyFile(database: string, file: string): Promise<void> {
  if (!existsSync(database)) throw new BackupError(`${database} is not there.`);
  const { DatabaseSync } = await loadSqlite();
  const source = new DatabaseSync(database, { readOnly: true });
  try {
    source.exec("PRAGMA busy_timeout = 5000");
    // It takes a file that is there as long as that is empty.
    source.exec(`VACUUM INTO '${file.replaceAll("'", "''")}'`);
  } catch (cause) {
    throw new BackupError(`${database} cannot be backed up: ${(cause as Error).message}`, { cause });
  } finally {
    source.close();
  }
}

/** A schema of the platform's own is saved alone: others in the database are other programs'. */
async function dump(settings: ConnectionSettings, archive: number, env: NodeJS.ProcessEnv): Promise<void> {
  const [{ schemaNameOf }, { readUrlForPrograms }] = await Promise.all([
    import("../storage/postgres/schema-name.ts"),
    import("../storage/postgres/settings.ts"),
  ]);
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
      reject(new BackupError("pg_dump is not there: install PostgreSQL's client programs.", { cause }));
    });
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new BackupError(`pg_dump ended with ${code}: ${complaint.trim()}`));
    });
  });
}
