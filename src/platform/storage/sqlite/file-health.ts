import type { Log } from "../../ports.ts";
import { StorageUnavailableError } from "../database.ts";
import { isDamage } from "./errors.ts";

/** A change of the files is noticed this soon, also where nobody writes or asks. */
const INSPECT_MILLISECONDS = 2000;
/** A start has more urgent work than the check, and a process that is killed again and again never begins one. */
const START_MILLISECONDS = 3000;
/** Reads that fail are logged this often, and a file that was found intact is not read again sooner. */
const QUIET_MILLISECONDS = 600_000;

/** Reads all of a database file, without holding up this process; resolves with what is wrong with it. */
export type FileCheck = (file: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface FileHealthTools {
  file: string;
  /** Reads and looks at the files. Throws StorageUnavailableError. */
  inspect(): void;
  /** Why the last commit failed. */
  writeFailure(): StorageUnavailableError | undefined;
  /** Tries a commit. Rejects with StorageUnavailableError. */
  tryCommit(): Promise<void>;
  check: FileCheck | undefined;
  log: Log | undefined;
}

/** Knows whether an open SQLite file can be worked with, and tells the log when that changes. */
export class FileHealth {
  readonly #tools: FileHealthTools;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #startTimer: NodeJS.Timeout | undefined;
  #trying = false;
  #trouble: string | undefined;
  #readFailureLogged = -Infinity;
  #damage: StorageUnavailableError | undefined;
  #checking: Promise<void> | undefined;
  #nextCheck = -Infinity;

  constructor(tools: FileHealthTools) {
    this.#tools = tools;
    this.#timer = setInterval(() => this.#lookAgain(), INSPECT_MILLISECONDS);
    this.#timer.unref();
  }

  /** Throws StorageUnavailableError where the database cannot be worked with. */
  assertUsable(): void {
    this.#tools.inspect();
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

  /** Has all of the file read in the background, unless that was done a short time ago. */
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

  #lookAgain(): void {
    const { file, log } = this.#tools;
    let trouble: StorageUnavailableError | undefined;
    try {
      this.#tools.inspect();
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      trouble = error;
    }
    if (trouble?.message !== this.#trouble) {
      this.#trouble = trouble?.message;
      if (trouble === undefined) log?.info({ database: file }, "the database can be used again");
      else log?.error({ err: trouble, database: file }, "the database cannot be used");
    }
    // Whoever waits for readiness sends no writes that would find out.
    if (this.#tools.writeFailure() !== undefined && !this.#trying) void this.#tryCommit();
  }

  async #tryCommit(): Promise<void> {
    this.#trying = true;
    try {
      await this.#tools.tryCommit();
    } catch (error) {
      // Already logged, with the commit that failed first.
      if (!(error instanceof StorageUnavailableError)) throw error;
    } finally {
      this.#trying = false;
    }
  }
}
