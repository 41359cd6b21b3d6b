import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { type CommitStamps, FILE_HEADER_BYTES, isFileHeader, isLogHeader, LOG_HEADER_BYTES } from "./commit-stamps.ts";
import { identityOf } from "./database-file.ts";
import { StorageUnavailableError } from "../database.ts";

/** SQLite shortens a log to this size when it restarts it. */
export const LOG_SIZE_LIMIT = 64 * 1024 * 1024;

/**
 * Detects what other programs do to the files of an open database. SQLite itself continues with what it has in memory,
 * and what it writes then is lost or damages the file further.
 *
 * The file changes only when SQLite moves commits into it from the log (this process or a backup tool), and then its
 * header holds the number of a later commit than before.
 */
export class FileWatch {
  readonly #file: string;
  readonly #log: string;
  readonly #sharedMemory: string;
  readonly #stamps: CommitStamps;
  readonly #identities: ReadonlyMap<string, string | undefined>;
  /** Stays open: closing any descriptor of the file would free SQLite's locks on it. */
  readonly #descriptor: number;
  /** Stays open too: a process without free descriptors could not open it, and would accept no writes. */
  readonly #logDescriptor: number;
  readonly #changed: () => void;
  #header: Buffer;
  #stats: Stats;
  /** The log's size when it was last inspected, and the last commit that was in it. */
  #logBytes = 0;
  #lastCommit = -1;

  /** `changed` is called if the file was changed in a way that only reading all of it can judge. */
  constructor(file: string, stamps: CommitStamps, changed: () => void) {
    this.#file = file;
    this.#log = `${file}-wal`;
    this.#sharedMemory = `${file}-shm`;
    this.#stamps = stamps;
    this.#changed = changed;
    this.#identities = new Map([file, this.#log, this.#sharedMemory].map((path) => [path, identityOf(path)]));
    this.#descriptor = openSync(file, "r");
    this.#logDescriptor = openSync(this.#log, "r");
    this.#header = readStart(this.#descriptor, FILE_HEADER_BYTES);
    this.#stats = this.#find(file);
  }

  /**
   * Throws StorageUnavailableError if the files are not the ones that were opened, or were overwritten or truncated. If
   * they are restored, the database works again.
   */
  inspect(): void {
    this.#find(this.#sharedMemory);
    const log = this.#find(this.#log);
    const stats = this.#find(this.#file);
    if (stats.mtimeMs !== this.#stats.mtimeMs || stats.size !== this.#stats.size) this.#examine(stats);
    // Another program may have emptied the log once all of it was in the file.
    const isShorter = log.size < Math.min(this.#logBytes, LOG_SIZE_LIMIT);
    if (isShorter && !this.#stamps.contains(this.#header, this.#lastCommit)) {
      throw unavailable(`${this.#log} was truncated`);
    }
    const start = readStart(this.#logDescriptor, LOG_HEADER_BYTES);
    if (start.length > 0 && !isLogHeader(start)) throw unavailable(`${this.#log} was overwritten`);
    this.#logBytes = log.size;
    this.#lastCommit = this.#stamps.lastCommit;
  }

  /** Call this once SQLite has closed the file. */
  close(): void {
    closeSync(this.#descriptor);
    closeSync(this.#logDescriptor);
  }

  #find(path: string): Stats {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || identityOf(path, stats) !== this.#identities.get(path)) {
      throw unavailable(`${path} was moved, replaced or deleted`);
    }
    return stats;
  }

  #examine(stats: Stats): void {
    const header = readStart(this.#descriptor, FILE_HEADER_BYTES);
    const isSame = header.equals(this.#header) && stats.size >= this.#stats.size;
    const isCheckpoint = isFileHeader(header) && this.#stamps.isLater(header, this.#header);
    if (!isSame && !isCheckpoint) throw unavailable(`${this.#file} was overwritten or truncated`);
    this.#header = header;
    this.#stats = stats;
    if (isSame) this.#changed();
  }
}

function readStart(descriptor: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, 0));
}

function unavailable(what: string): StorageUnavailableError {
  return new StorageUnavailableError(
    `Storage is unavailable: ${what} while it was in use. Stop the platform, then put the file back or restore a ` +
      "backup with `service db restore`.",
  );
}
