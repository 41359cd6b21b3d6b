import type { Log } from "../../ports.ts";
import { StorageUnavailableError } from "../database.ts";
import { asUnavailable, isDamage } from "./errors.ts";

/** A change of the files is noticed this soon. Commits do not look at them: looking costs time and may fail. */
const INSPECT_MILLISECONDS = 500;
/** The check waits until the start is over. A process that is killed repeatedly never starts a check. */
const START_MILLISECONDS = 3000;
/** Failed reads are logged this often, and a file that was found intact is not read again sooner. */
const QUIET_MILLISECONDS = 600_000;

/** Reads a whole database file without blocking this process. Resolves with what is wrong with it. */
export type FileCheck = (file: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface FileHealthTools {
  file: string;
  /** Reads and checks the files. Throws StorageUnavailableError, or the file system's error. */
  inspect(): void;
  /** Why the last commit failed. */
  writeFailure(): StorageUnavailableError | undefined;
  /** Tries a commit. Rejects with StorageUnavailableError. */
  tryCommit(): Promise<void>;
  check: FileCheck | undefined;
  log: Log | undefined;
}

/** Tracks whether an open SQLite file can be used, and logs changes. */
export class FileHealth {
  readonly #tools: FileHealthTools;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #startTimer: NodeJS.Timeout | undefined;
  #trying = false;
  /** What the last inspection of the files found. */
  #trouble: StorageUnavailableError | undefined;
  #readFailureLogged = -Infinity;
  #damage: StorageUnavailableError | undefined;
  #checking: Promise<void> | undefined;
  #nextCheck = -Infinity;

  constructor(tools: FileHealthTools) {
    this.#tools = tools;
    this.#timer = setInterval(() => this.#pollAgain(), INSPECT_MILLISECONDS);
    this.#timer.unref();
  }

  /** Throws StorageUnavailableError if the last inspection found the files changed, and they still are. */
  assertFiles(): void {
    if (this.#trouble !== undefined) this.#inspect();
    if (this.#trouble !== undefined) throw this.#trouble;
  }

  /** Throws StorageUnavailableError if the database cannot be used. */
  assertUsable(): void {
    this.#inspect();
    if (this.#trouble !== undefined) throw this.#trouble;
    if (this.#damage !== undefined) throw this.#damage;
    const failure = this.#tools.writeFailure();
    if (failure !== undefined) throw failure;
  }

  readFailed(error: unknown): void {
    const now = performance.now();
    if (now - this.#readFailureLogged > QUIET_MILLISECONDS) {
      this.#readFailureLogged = now;
      this.#tools.log?.error({ err: error, database: this.#tools.file }, "the database could not be read");
    }
    if (isDamage(error)) this.check();
  }

  /** As `check`, once the process has started. */
  checkAfterStart(): void {
    this.#startTimer = setTimeout(() => this.check(), START_MILLISECONDS);
    this.#startTimer.unref();
  }

  /** Reads the whole file in the background, unless that was done recently. */
  check(): void {
    if (this.#tools.check === undefined || this.#checking !== undefined || this.#damage !== undefined) return;
    if (performance.now() < this.#nextCheck || this.#stopping.signal.aborted) return;
    this.#checking = this.#check(this.#tools.check).finally(() => {
      this.#checking = undefined;
      this.#nextCheck = performance.now() + QUIET_MILLISECONDS;
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#startTimer);
    this.#stopping.abort();
    await this.#checking;
  }

  async #check(check: FileCheck): Promise<void> {
    const { file, log } = this.#tools;
    try {
      const problems = await check(file, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      if (problems.length === 0) return log?.info({ database: file }, "the database was checked and is intact");
      this.#damage = new StorageUnavailableError(`Storage is unavailable: ${file} is damaged: ${problems[0]}`);
      log?.error({ database: file, problems: problems.slice(0, 10) }, "the database is damaged: restore a backup");
    } catch (error) {
      log?.warn({ err: error, database: file }, "the database could not be checked");
    }
  }

  /** Logs a change of what it finds. */
  #inspect(): void {
    const { file, log } = this.#tools;
    const before = this.#trouble;
    this.#trouble = undefined;
    try {
      this.#tools.inspect();
    } catch (error) {
      const failure = asUnavailable(error);
      if (!(failure instanceof StorageUnavailableError)) throw failure;
      this.#trouble = failure;
    }
    if (this.#trouble?.message === before?.message) return;
    if (this.#trouble === undefined) log?.info({ database: file }, "the database can be used again");
    else log?.error({ err: this.#trouble, database: file }, "the database cannot be used");
  }

  #pollAgain(): void {
    this.#inspect();
    // A client that waits for readiness sends no writes that would detect it.
    if (this.#tools.writeFailure() !== undefined && !this.#trying) void this.#tryCommit();
  }

  async #tryCommit(): Promise<void> {
    this.#trying = true;
    try {
      await this.#tools.tryCommit();
    } catch (error) {
      // Already logged, with the first commit that failed.
      if (!(error instanceof StorageUnavailableError)) throw error;
    } finally {
      this.#trying = false;
    }
  }
}
