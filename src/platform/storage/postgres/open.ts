import type { Log } from "../../ports.ts";
import {
  type Database,
  type Queries,
  queriesBy,
  type SqlValue,
  StorageUnavailableError,
  Subscriptions,
  type Topic,
  type UnitOfWork,
  type WriteOptions,
} from "../database.ts";
import type { Migration } from "../migrations/migration.ts";
import { Turns } from "../large-reads.ts";
import { PostgresConnection } from "./connection.ts";
import { asOpenError } from "./errors.ts";
import { assertUsable, migratePostgres } from "./migrate.ts";
import { ConnectionPool } from "./pool.ts";
import { type ConnectionSettings, readUrl } from "./settings.ts";
import { TransactionRunner } from "./transaction-runner.ts";
import { Notifications } from "./notifications.ts";

export interface PostgresOptions extends ConnectionSettings {
  /** In the order in which they run. */
  readonly migrations: readonly Migration[];
  /** This program's version, recorded with each migration, so that an older program can say which one it lacks. */
  readonly version?: string;
  readonly log?: Log;
  /** Returns a text that changes whenever there may be new events. Polled periodically. */
  readonly stateOfEvents?: (queries: Queries) => Promise<string>;
  /** False leaves the schema as it is. */
  readonly migrate?: boolean;
}

const DEFAULT_CONNECTIONS = 16;
/** A reader gets its result soon and shares its connection; a writer keeps one for a whole transaction. */
const READERS_SHARE = 0.25;
const FEWEST_CONNECTIONS = 2;

/**
 * Opens a PostgreSQL database (13 or later) that any number of processes share, and migrates its schema, one process at
 * a time.
 *
 * Throws StorageOpenError if it cannot be reached or rejects the user ("unreachable"), if its schema is newer than this
 * program ("newer_schema") or belongs to another program ("not_a_database"), if it is read-only ("not_writable") or too
 * old ("unsupported").
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { name, config, statementMilliseconds } = readUrl(options);
  const now = () => performance.now();
  try {
    await prepareSchema(options, await PostgresConnection.open({ ...config, statement_timeout: 0 }, now));
    const connections = Math.max(FEWEST_CONNECTIONS, options.connections ?? DEFAULT_CONNECTIONS);
    const readers = Math.max(1, Math.round(connections * READERS_SHARE));
    const open = (onEnd?: () => void) => PostgresConnection.open(config, now, onEnd);
    // A statement may wait for as long as it may take.
    const timeoutMs = statementMilliseconds * 2;
    const pool = new ConnectionPool(open, { readers, writers: connections - readers, timeoutMs }, options.log);
    const notifying = { ...config, application_name: `${String(config.application_name)} notifications` };
    const openNotifying = (onEnd: () => void) => PostgresConnection.open(notifying, now, onEnd);
    const storage = new PostgresStorage(pool, { open, openNotifying }, { ...options, timeoutMs });
    await storage.start();
    return storage;
  } catch (error) {
    throw asOpenError(error, name);
  }
}

async function prepareSchema(options: PostgresOptions, connection: PostgresConnection): Promise<void> {
  try {
    await assertUsable(connection);
    await migratePostgres(connection, options.migrations, options.version ?? null, options.migrate ?? true);
  } finally {
    await connection.close();
  }
}

class PostgresStorage implements Database {
  readonly dialect = "postgres";
  readonly #pool: ConnectionPool;
  readonly #runner: TransactionRunner;
  readonly #notifications: Notifications;
  readonly #subscriptions: Subscriptions;
  readonly #poll: Poll | undefined;
  readonly #open: () => Promise<PostgresConnection>;
  /** Reads one state at a time. */
  readonly #stateTurns = new Turns();
  readonly #timeoutMs: number;
  #closing: Promise<void> | undefined;

  constructor(
    pool: ConnectionPool,
    connections: {
      open: () => Promise<PostgresConnection>;
      openNotifying: (onEnd: () => void) => Promise<PostgresConnection>;
    },
    { log, stateOfEvents, timeoutMs }: Pick<PostgresOptions, "log" | "stateOfEvents"> & { timeoutMs: number },
  ) {
    this.#pool = pool;
    this.#open = connections.open;
    this.#timeoutMs = timeoutMs;
    this.#subscriptions = new Subscriptions(log);
    if (stateOfEvents !== undefined) {
      this.#poll = new Poll(this, stateOfEvents, {
        isNeeded: () => this.#subscriptions.has("events"),
        changed: () => this.#subscriptions.notify(["events"]),
      });
    }
    this.#notifications = new Notifications(
      connections.openNotifying,
      (topics) => this.#subscriptions.notify(topics),
      log,
    );
    const committed = (topics: ReadonlySet<Topic>) => {
      this.#subscriptions.notify(topics);
      this.#notifications.notify(topics);
    };
    this.#runner = new TransactionRunner(pool, committed, { timeoutMs, log });
  }

  start(): Promise<void> {
    return this.#notifications.start();
  }

  async get<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.#read(sql, parameters))[0] as Row | undefined;
  }

  async all<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    return (await this.#read(sql, parameters)) as Row[];
  }

  allShared<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.all(sql, parameters);
  }

  write<Result>(unit: UnitOfWork<Result>, options: WriteOptions = {}): Promise<Result> {
    return this.#runner.write(unit, options);
  }

  readOneState<Result>(read: (queries: Queries) => Promise<Result>): Promise<Result> {
    return this.#stateTurns.run(async () => {
      this.#assertOpen();
      // Not one of the pool: a caller that holds one and waits for another could wait for itself.
      const connection = await this.#open();
      try {
        await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        return await read(
          queriesBy(this.dialect, async (sql, parameters) => (await connection.execute(sql, parameters)).rows),
        );
      } finally {
        await connection.close();
      }
    });
  }

  subscribe(topic: Topic, callback: () => void): () => void {
    return this.#subscriptions.add(topic, callback);
  }

  async probe(): Promise<void> {
    await this.get("SELECT number FROM schema_migrations LIMIT 1");
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#poll?.stop();
    await this.#runner.close();
    await this.#notifications.close();
    await this.#pool.close();
  }

  async #read(sql: string, parameters?: readonly SqlValue[]): Promise<Record<string, unknown>[]> {
    this.#assertOpen();
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      const message = "Storage is unavailable: too many statements are waiting for the database.";
      timer = setTimeout(() => reject(new StorageUnavailableError(message)), this.#timeoutMs);
    });
    try {
      return await Promise.race([this.#execute(sql, parameters), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new StorageUnavailableError("Storage is unavailable: the database is closed.");
  }

  async #execute(sql: string, parameters?: readonly SqlValue[]): Promise<Record<string, unknown>[]> {
    const connection = await this.#pool.reader();
    try {
      return (await connection.execute(sql, parameters)).rows;
    } catch (error) {
      // Reading twice is harmless, and a server that was restarted accepts a new connection.
      if (connection.isOpen || !(error instanceof StorageUnavailableError)) throw error;
      return (await (await this.#pool.reader()).execute(sql, parameters)).rows;
    }
  }
}

const POLL_MILLISECONDS = 250;

/**
 * Polls for changes while there are subscribers, because notifications of other processes may get lost. One small query
 * serves everyone in this process.
 */
class Poll {
  readonly #queries: Queries;
  readonly #stateOf: (queries: Queries) => Promise<string>;
  readonly #timer: NodeJS.Timeout;
  #last = "";
  #polling = false;

  constructor(
    queries: Queries,
    stateOf: (queries: Queries) => Promise<string>,
    notify: { isNeeded: () => boolean; changed: () => void },
  ) {
    this.#queries = queries;
    this.#stateOf = stateOf;
    this.#timer = setInterval(() => {
      if (!this.#polling && notify.isNeeded()) void this.#poll(notify.changed);
    }, POLL_MILLISECONDS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #poll(changed: () => void): Promise<void> {
    this.#polling = true;
    try {
      const state = await this.#stateOf(this.#queries);
      if (state !== this.#last) changed();
      this.#last = state;
    } catch {
      // Other parts report an unreachable database. Changes are found at the next poll.
    } finally {
      this.#polling = false;
    }
  }
}
