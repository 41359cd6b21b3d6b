import { renameSync, rmSync, writeFileSync } from "node:fs";

/** Replaces a file in one step, or creates it, for its owner only. Throws the file system's error. */
export function replaceFile(path: string, text: string): void {
  const fresh = `${path}.${process.pid}`;
  try {
    rmSync(fresh, { force: true });
    // Never writes to a file or link that another user put there.
    writeFileSync(fresh, text, { mode: 0o600, flag: "wx", flush: true });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
