import type { Log } from "../../ports.ts";
import { StorageUnavailableError } from "../database.ts";
import type { PostgresConnection } from "./connection.ts";

/** After a failed attempt to connect, other attempts are rejected for this long instead of each opening a connection. */
const FAIL_FAST_MILLISECONDS = 200;
/** A writer that waits longer for a connection is rejected. */
const WAIT_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 1_000;

export interface PoolSettings {
  /** Number of connections that many readers share. */
  readers: number;
  /** Number of connections that each belong to one transaction at a time. */
  writers: number;
  /** A connection with a statement unanswered for longer is abandoned. */
  timeoutMs: number;
}

interface Waiting {
  resolve: (connection: PostgresConnection) => void;
  reject: (error: unknown) => void;
  timer: NodeJS.Timeout;
}

/** Opens connections as needed, and replaces lost ones. */
export class ConnectionPool {
  readonly #open: (onEnd: () => void) => Promise<PostgresConnection>;
  readonly #settings: PoolSettings;
  readonly #log: Log | undefined;
  readonly #readers = new Set<PostgresConnection>();
  readonly #writers = new Set<PostgresConnection>();
  readonly #free: PostgresConnection[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #watch: NodeJS.Timeout;
  #openingReader: Promise<PostgresConnection> | undefined;
  #openingWriters = 0;
  #lastFailure: { error: unknown; until: number } | undefined;
  #failing = false;
  #closed = false;

  constructor(open: (onEnd: () => void) => Promise<PostgresConnection>, settings: PoolSettings, log: Log | undefined) {
    this.#open = open;
    this.#settings = settings;
    this.#log = log;
    this.#watch = setInterval(() => this.#destroyUnresponsive(), POLL_MILLISECONDS).unref();
  }

  /** Returns the readers' connection with the fewest statements in flight. */
  async reader(): Promise<PostgresConnection> {
    let best: PostgresConnection | undefined;
    for (const connection of this.#readers) {
      // An abandoned one may still be in the list for a moment.
      if (!connection.isOpen) continue;
      if (best === undefined || connection.inFlight < best.inFlight) best = connection;
    }
    if (best === undefined) return (this.#openingReader ??= this.#openReader());
    if (best.inFlight > 0 && this.#readers.size < this.#settings.readers && this.#openingReader === undefined) {
      // New callers need not wait for it.
      this.#openingReader = this.#openReader();
      this.#openingReader.catch(() => {});
    }
    return best;
  }

  /** Returns a connection for one transaction, until it is released. */
  take(): Promise<PostgresConnection> {
    for (let connection = this.#free.pop(); connection !== undefined; connection = this.#free.pop()) {
      if (connection.isOpen) return Promise.resolve(connection);
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new StorageUnavailableError("Storage is unavailable: every connection to the database is busy."));
      }, WAIT_MILLISECONDS).unref();
      const waiting: Waiting = { resolve, reject, timer };
      this.#waiting.push(waiting);
      this.#openWriters();
    });
  }

  release(connection: PostgresConnection): void {
    if (!connection.isOpen || this.#closed) return;
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#free.push(connection);
      return;
    }
    clearTimeout(next.timer);
    next.resolve(connection);
  }

  /** Returns how many connections are open, and how many transactions wait for one. */
  get state(): { open: number; waiting: number } {
    return { open: this.#readers.size + this.#writers.size, waiting: this.#waiting.length };
  }

  /** Closes every connection once its statements are answered. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    await Promise.all([...this.#readers, ...this.#writers].map((connection) => connection.close()));
  }

  #openWriters(): void {
    const available = this.#settings.writers - this.#writers.size - this.#openingWriters;
    const needed = Math.min(available, this.#waiting.length - this.#openingWriters);
    for (let count = 0; count < needed; count++) {
      this.#openingWriters += 1;
      this.#connect(this.#writers).then(
        (connection) => {
          this.#openingWriters -= 1;
          this.release(connection);
        },
        (error: unknown) => {
          this.#openingWriters -= 1;
          // One that is being opened may still succeed, and others may be released.
          if (this.#openingWriters > 0 || this.#writers.size > 0) return;
          for (const { reject, timer } of this.#waiting.splice(0)) {
            clearTimeout(timer);
            reject(error);
          }
        },
      );
    }
  }

  #openReader(): Promise<PostgresConnection> {
    return this.#connect(this.#readers).finally(() => {
      this.#openingReader = undefined;
    });
  }

  async #connect(pool: Set<PostgresConnection>): Promise<PostgresConnection> {
    if (this.#closed) throw new StorageUnavailableError("Storage is unavailable: the database is closed.");
    if (this.#lastFailure !== undefined && performance.now() < this.#lastFailure.until) throw this.#lastFailure.error;
    try {
      let opened: PostgresConnection | undefined;
      const connection = await this.#open(() => this.#forget(opened, pool));
      opened = connection;
      if (this.#closed) await connection.close();
      if (!connection.isOpen) throw new StorageUnavailableError("Storage is unavailable: the connection was lost.");
      pool.add(connection);
      if (this.#failing) this.#log?.info({}, "the database is available again");
      this.#failing = false;
      this.#lastFailure = undefined;
      return connection;
    } catch (cause) {
      if (!this.#failing && !this.#closed) this.#log?.error({ err: cause }, "the database cannot be reached");
      this.#failing = true;
      const error = new StorageUnavailableError("Storage is unavailable: the database cannot be reached.", { cause });
      this.#lastFailure = { error, until: performance.now() + FAIL_FAST_MILLISECONDS };
      throw error;
    }
  }

  #forget(connection: PostgresConnection | undefined, pool: Set<PostgresConnection>): void {
    if (connection !== undefined) pool.delete(connection);
    if (pool === this.#writers && this.#waiting.length > 0 && !this.#closed) this.#openWriters();
  }

  /** A server that has vanished does not respond, and TCP would wait for a quarter of an hour. */
  #destroyUnresponsive(): void {
    for (const connection of [...this.#readers, ...this.#writers]) {
      if (connection.waited > this.#settings.timeoutMs) connection.destroy();
    }
  }
}
