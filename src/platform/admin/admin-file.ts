import { readFileSync, rmSync, writeFileSync } from "node:fs";

/** How a command on the same machine reaches the process that serves a database. */
export interface AdminAccess {
  /** The server's address on this machine. */
  url: string;
  token: string;
}

/** The file is beside the database: anyone who may read it may administer the platform. */
function fileOf(database: string): string {
  return `${database}.admin`;
}

/** Writes the file, readable by its owner only. */
export function writeAdminFile(database: string, access: AdminAccess): void {
  removeAdminFile(database);
  writeFileSync(fileOf(database), `${JSON.stringify(access)}\n`, { flag: "wx", mode: 0o600 });
}

export function removeAdminFile(database: string): void {
  rmSync(fileOf(database), { force: true });
}

/** Returns undefined if no process serves the database, or the process has not written how to reach it. */
export function readAdminFile(database: string): AdminAccess | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(database), "utf8")) as AdminAccess;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
