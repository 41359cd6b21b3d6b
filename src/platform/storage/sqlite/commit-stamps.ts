import { randomInt } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";
import { shellCommand } from "../../../contract/shell-command.ts";
import type { Connection } from "./connection.ts";
import { StorageOpenError } from "../database.ts";

/** SQLite's file format: the header of the file, of its log, and of each page in the log. */
export const FILE_HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const SCHEMA_COOKIE_AT = 40;
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
export const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** What the shared memory (`-shm`) has in the machine's byte order: the number of pages in the log, and in the file. */
const SHARED_HEADER_BYTES = 100;
const LOGGED_AT = 16;
const SAVED_AT = 96;
const LOG_MAGICS = new Set([0x377f0682, 0x377f0683]);

/** A server that uses the file may move changes from the log to the file between the two reads. */
const ATTEMPTS = 5;

/**
 * Numbers the commits of one connection, in the header of the database file: `user_version` holds the number of the
 * last commit, `application_id` that of the previous one. Each process begins at a random number.
 *
 * SQLite replays a log (`-wal`) over any file it finds next to it, and so destroys a backup that was copied over the
 * file of a killed process. The numbers tell which files belong to a log: those that hold the number of one of its
 * commits, or of the commit before its first.
 */
export class CommitStamps {
  readonly #connection: Connection;
  /** Numbers of commits that earlier processes left in the log. */
  readonly #earlier: ReadonlySet<number>;
  readonly #first = randomStamp();
  #written = 0;
  #lastCommitted = -1;
  #changes = 0;

  constructor(connection: Connection, earlier: ReadonlySet<number>) {
    this.#connection = connection;
    this.#earlier = earlier;
  }

  /** Numbers the transaction before its commit. One without changes stays empty unless it is forced. */
  stamp(isForced: boolean): void {
    const changes = Number(this.#connection.get("SELECT total_changes() AS changes")?.["changes"]);
    if (changes === this.#changes && !isForced) return;
    this.#changes = changes;
    const previous = Number(this.#connection.get("PRAGMA user_version")?.["user_version"]);
    writeStamps(this.#connection, previous, (this.#first + this.#written) | 0);
    this.#written += 1;
  }

  committed(): void {
    this.#lastCommitted = this.#written - 1;
  }

  /** Returns true if a file's header holds the number of a later commit than another header did. */
  isLater(header: Buffer, before: Buffer): boolean {
    const index = this.#indexOf(header);
    if (index >= 0) return index > this.#indexOf(before);
    return this.#indexOf(before) < 0 && this.#earlier.has(stampIn(header));
  }

  /** The last of this process's commits; -1 before the first. */
  get lastCommit(): number {
    return this.#lastCommitted;
  }

  /** Returns true if a file with this header contains a commit. */
  contains(header: Buffer, commit: number): boolean {
    return this.#indexOf(header) >= commit;
  }

  /** Numbers this process's commits from 0; -1 for any other. */
  #indexOf(header: Buffer): number {
    const index = (stampIn(header) - this.#first) >>> 0;
    return index < this.#written ? index : -1;
  }
}

/** Makes a copy of a database file independent, so that it belongs to no log of the original. */
export function stampCopy(connection: Connection): void {
  writeStamps(connection, randomStamp(), randomStamp());
}

function writeStamps(connection: Connection, previous: number, last: number): void {
  connection.exec(`PRAGMA application_id = ${previous}; PRAGMA user_version = ${last}`);
}

function randomStamp(): number {
  return randomInt(2 ** 32) | 0;
}

/**
 * Throws StorageOpenError "log_mismatch" if SQLite would replay a log over a file that the log does not belong to, and
 * if the log is missing. Call this before SQLite opens the file, since SQLite changes both at once.
 */
export function assertLogBelongs(file: string): LogContents {
  const log = `${file}-wal`;
  for (let attempt = 1; ; attempt++) {
    const header = readFileHeader(file);
    const logged = readLog(log);
    const isGone = header !== undefined && !logged.hasHeader && hasUnsavedPages(`${file}-shm`);
    if (!isGone && (logged.frames === 0 || (header !== undefined && belongs(header, logged)))) return logged;
    if (attempt < ATTEMPTS) continue;
    if (isGone) {
      throw new StorageOpenError(
        "log_mismatch",
        `${log} is missing, empty or overwritten, but had changes that are not in ${file} yet. Nothing was changed. ` +
          shellCommand`Put ${log} back, or restore a backup: service db restore BACKUP --database ${file}`,
      );
    }
    const problem =
      header === undefined
        ? `${file} is missing or not an SQLite database, but ${log} has changes of the database that was there.`
        : `${file} does not belong to ${log}: it was replaced after a process that used it was killed.`;
    throw new StorageOpenError(
      "log_mismatch",
      `${problem} Opening them together would destroy data, so both were left as they are. ` +
        "To continue with the previous database, put its file back. " +
        shellCommand`To restore a backup, run: service db restore BACKUP --database ${file}`,
    );
  }
}

function belongs(header: Buffer, { stamps, schemaCookie }: LogContents): boolean {
  // Another program's log has no numbers. VACUUM INTO keeps the number and increments the cookie.
  if (stamps.size === 0) return true;
  return stamps.has(stampIn(header)) && header.readUInt32BE(SCHEMA_COOKIE_AT) <= schemaCookie;
}

/**
 * Returns true if a killed process left changes only in the log. A clean stop removes the shared memory; a killed
 * process leaves it.
 */
function hasUnsavedPages(sharedMemory: string): boolean {
  const header = withFile(sharedMemory, (read) => read(0, SHARED_HEADER_BYTES));
  if (header?.length !== SHARED_HEADER_BYTES) return false;
  const read = (at: number) => (endianness() === "LE" ? header.readUInt32LE(at) : header.readUInt32BE(at));
  return read(LOGGED_AT) > read(SAVED_AT);
}

/** Returns undefined if there is no such file, or no database in it. */
function readFileHeader(file: string): Buffer | undefined {
  const header = withFile(file, (read) => read(0, FILE_HEADER_BYTES));
  return header !== undefined && isFileHeader(header) ? header : undefined;
}

export function isFileHeader(header: Buffer): boolean {
  return header.length === FILE_HEADER_BYTES && header.toString("latin1", 0, MAGIC.length) === MAGIC;
}

function stampIn(header: Buffer): number {
  return header.readInt32BE(USER_VERSION_AT);
}

export function isLogHeader(header: Buffer): boolean {
  return header.length === LOG_HEADER_BYTES && LOG_MAGICS.has(header.readUInt32BE(0));
}

export interface LogContents {
  /** The numbers of its commits, and of the previous commit. */
  stamps: ReadonlySet<number>;
  /** The last schema cookie, which counts schema changes. */
  schemaCookie: number;
  /** How many pages SQLite would apply from it. */
  frames: number;
  /** Returns false if there is no log, or something else in its place. */
  hasHeader: boolean;
}

function readLog(file: string): LogContents {
  const stamps = new Set<number>();
  let schemaCookie = 0;
  let frames = 0;
  let hasHeader = false;
  withFile(file, (read) => {
    const header = read(0, LOG_HEADER_BYTES);
    hasHeader = isLogHeader(header);
    if (!hasHeader) return;
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
    for (let at = LOG_HEADER_BYTES; ; at += frameBytes) {
      const frame = read(at, FRAME_HEADER_BYTES);
      // Frames with another salt than the first are left over from before the log was last restarted.
      if (frame.length < FRAME_HEADER_BYTES || frame.compare(header, 16, 24, 8, 16) !== 0) return;
      frames += 1;
      if (frame.readUInt32BE(0) !== 1) continue;
      const page = read(at + FRAME_HEADER_BYTES, FILE_HEADER_BYTES);
      if (page.length < FILE_HEADER_BYTES) return;
      if (stamps.size === 0) stamps.add(page.readInt32BE(APPLICATION_ID_AT));
      stamps.add(page.readInt32BE(USER_VERSION_AT));
      schemaCookie = page.readUInt32BE(SCHEMA_COOKIE_AT);
    }
  });
  return { stamps, schemaCookie, frames, hasHeader };
}

/** Returns undefined if there is no such file. */
function withFile<Result>(file: string, use: (read: (at: number, length: number) => Buffer) => Result) {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return use((at, length) => {
      const buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(descriptor, buffer, 0, length, at));
    });
  } finally {
    closeSync(descriptor);
  }
}
