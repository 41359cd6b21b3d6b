import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  statfsSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createFolder } from "../../../files/folders.ts";
import { StorageOpenError } from "../database.ts";

const OWNER_ONLY = 0o600;
/** Linux's numbers of network file systems. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
]);

/**
 * Returns the file's canonical path, so that a link to it uses the same lock. Creates its folder (mode 0700) if it is
 * missing. Throws StorageOpenError if no database can be there, the file system's error if the folder cannot be
 * created.
 */
export function locateFile(file: string): string {
  const path = resolve(file);
  if (existsSync(path)) {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) {
      throw new StorageOpenError("not_a_database", `${file} is a folder. Pass a file in it.`);
    }
    return real;
  }
  createFolder(dirname(path));
  return path;
}

/** What the name of a database begins with that a restored backup has replaced. */
export const replacedPrefix = (file: string) => `${file}.replaced-`;

/**
 * Throws StorageOpenError if the file has several names: each would have another lock and another log. First removes the
 * name that a restore added before it was killed. The caller holds the file's lock, so no other restore needs it.
 */
export function assertOneName(file: string): void {
  const links = () => statSync(file, { throwIfNoEntry: false })?.nlink ?? 0;
  if (links() > 1) {
    const folder = dirname(file);
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (path.startsWith(replacedPrefix(file)) && identityOf(path) === identityOf(file)) rmSync(path);
    }
  }
  if (links() <= 1) return;
  throw new StorageOpenError(
    "hard_linked",
    `${file} has ${links()} names (hard links), under which several processes could open it and damage it. ` +
      "Delete the other names, or copy the file and use the copy.",
  );
}

/** Throws StorageOpenError if the file would be on another machine: locks and shared memory do not work there. */
export function assertLocalFileSystem(file: string, typeOf = (folder: string) => statfsSync(folder).type): void {
  const name = NETWORK_FILE_SYSTEMS.get(typeOf(dirname(file)) >>> 0);
  if (name === undefined) return;
  throw new StorageOpenError(
    "not_writable",
    `${file} is on a network file system (${name}), where SQLite can lose data. Keep it on a disk of this machine.`,
  );
}

/**
 * Creates an empty file that only its owner can read, unless there is one. SQLite gives its companion files the same
 * mode.
 */
export function createFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", OWNER_ONLY));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Makes the names of files in a folder durable. Windows does so automatically, and opens no folder. */
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

/** Makes a database of this platform, with its log, inaccessible to other users. */
export function closeToOthers(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) {
    if (existsSync(path)) chmodSync(path, OWNER_ONLY);
  }
}

/** Identifies a file among all that get its name; undefined if there is none. */
export function identityOf(path: string, stats = statSync(path, { throwIfNoEntry: false })): string | undefined {
  return stats && `${stats.dev}:${stats.ino}`;
}
