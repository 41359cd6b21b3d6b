import { randomUUID } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

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

/**
 * Replaces a file's content in one step that survives a crash of the machine: a reader sees either the old or the new
 * content. Rejects with the file system's error, and leaves the old file as it is.
 */
export async function replaceDurably(path: string, content: string | Buffer, mode: number): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(content);
      // The umask applies to the requested mode; a replaced file keeps its own.
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes the new name durable. Not every file system can open a folder for that. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // The content is complete either way.
  }
}
