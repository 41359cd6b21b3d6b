import { chmodSync, closeSync, existsSync, fsyncSync, openSync, realpathSync, statSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { makeFolder } from "../../../files/make-folder.ts";
import { StorageOpenError } from "../database.ts";

const OWNER_ONLY = 0o600;
/** Linux's numbers for file systems on another machine. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
]);

/**
 * Returns the file's one true path, so that a link to it meets the same lock; makes its folder (mode 0700) where that is
 * missing. Throws StorageOpenError where no database can lie, the file system's error where the folder cannot be made.
 */
export function locateFile(file: string): string {
  const path = resolve(file);
  if (existsSync(path)) {
    const real = realpathSync(path);
    const stats = statSync(real);
    if (stats.isDirectory()) {
      throw new StorageOpenError("not_a_database", `${file} is a folder. Name a file in it.`);
    }
    // Under each of its names it would have another lock and another log.
    if (stats.nlink > 1) {
      throw new StorageOpenError(
        "hard_linked",
        `${file} has ${stats.nlink} names (hard links), under which several processes could open it and damage it. ` +
          "Delete the other names, or copy the file and use the copy.",
      );
    }
    return real;
  }
  makeFolder(dirname(path));
  return path;
}

/** Throws StorageOpenError where the file would lie on another machine: locks and shared memory do not work there. */
export function assertLocalFileSystem(file: string, typeOf = (folder: string) => statfsSync(folder).type): void {
  const name = NETWORK_FILE_SYSTEMS.get(typeOf(dirname(file)) >>> 0);
  if (name === undefined) return;
  throw new StorageOpenError(
    "not_writable",
    `${file} lies on a network file system (${name}), where SQLite can lose data. Keep it on a disk of this machine.`,
  );
}

/** Makes an empty file that its owner alone can read, unless there is one; SQLite gives its companions the same mode. */
export function makeFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", OWNER_ONLY));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Makes the names of files in a folder durable. Windows does so by itself, and opens no folder. */
export function flushFolder(folder: string): void {
  if (process.platform !== "win32") flushFile(folder);
}

/** Makes a file's content durable. */
export function flushFile(file: string): void {
  const descriptor = openSync(file, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Closes a database that is ours, with its log, to other users. */
export function closeToOthers(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) {
    if (existsSync(path)) chmodSync(path, OWNER_ONLY);
  }
}

/** Tells a file from any other that takes its name; undefined where there is none. */
export function identityOf(path: string, stats = statSync(path, { throwIfNoEntry: false })): string | undefined {
  return stats && `${stats.dev}:${stats.ino}`;
}
