import type { SqlValue, Topic, Transaction } from "../database.ts";
import type { QueryResult, PostgresConnection } from "./connection.ts";

/** Begins a transaction: sent with the first statement of its units of work, and only if there is one. */
export class Beginning {
  readonly #connection: PostgresConnection;
  readonly #sql: string;
  #started: Promise<void> | undefined;
  #failure: unknown;
  #isSettled = false;
  /** Number of unanswered statements. */
  #waiting = 0;

  constructor(connection: PostgresConnection, sql: string) {
    this.#connection = connection;
    this.#sql = sql;
  }

  get sent(): boolean {
    return this.#started !== undefined;
  }

  /** Resolves with the error if the transaction did not begin. */
  async failure(): Promise<unknown> {
    await this.#started;
    return this.#failure;
  }

  /**
   * Sends a statement of the transaction. One that only reads is sent right after BEGIN, because it is harmless outside
   * a transaction. Any other, and all that follow, wait until the server has begun one, since it would be committed by
   * itself if BEGIN fails. Rejects with the error of BEGIN.
   */
  async send(isRead: boolean, statement: () => Promise<QueryResult>): Promise<QueryResult> {
    this.#started ??= this.#begin();
    const isSafe = this.#isSettled ? this.#failure === undefined : isRead;
    if (!isSafe || this.#waiting > 0) {
      this.#waiting += 1;
      await this.#started;
      this.#waiting -= 1;
      if (this.#failure !== undefined) throw this.#failure;
    }
    return statement();
  }

  async #begin(): Promise<void> {
    await this.#connection.execute(this.#sql).catch((error: unknown) => (this.#failure = error));
    this.#isSettled = true;
  }
}

/** Results of reads that are the same for all units of work of a transaction. */
export type SharedRows = Map<string, Promise<readonly unknown[]>>;

/** One unit of work's view of a connection, from the beginning of the transaction to the unit's end. */
export class PostgresTransaction implements Transaction {
  readonly dialect = "postgres";
  readonly #connection: PostgresConnection;
  readonly #beginning: Beginning;
  readonly #sharedRows: SharedRows | undefined;
  readonly topics = new Set<Topic>();
  /** True once a statement may have changed rows. */
  changed = false;
  /** The first error of a statement. It ended the transaction, even if the unit caught it. */
  failure: unknown;
  #ended = false;

  /** Units that share a transaction share the same `sharedRows`. */
  constructor(connection: PostgresConnection, beginning: Beginning, sharedRows?: SharedRows) {
    this.#connection = connection;
    this.#beginning = beginning;
    this.#sharedRows = sharedRows;
  }

  get isShared(): boolean {
    return this.#sharedRows !== undefined;
  }

  async get<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.#execute(sql, parameters)).rows[0] as Row | undefined;
  }

  async all<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    return (await this.#execute(sql, parameters)).rows as Row[];
  }

  allShared<Row>(sql: string, parameters: readonly SqlValue[] = []): Promise<readonly Row[]> {
    if (this.#sharedRows === undefined) return this.all(sql, parameters);
    const name = JSON.stringify([sql, ...parameters]);
    const cached = this.#sharedRows.get(name);
    if (cached !== undefined) return cached as Promise<readonly Row[]>;
    const rows = this.all<Row>(sql, parameters);
    this.#sharedRows.set(name, rows);
    return rows;
  }

  async run(sql: string, parameters?: readonly SqlValue[]): Promise<number> {
    return (await this.#execute(sql, parameters)).changed;
  }

  notify(topic: Topic): void {
    this.topics.add(topic);
  }

  async claim(name: string): Promise<boolean> {
    const { rows } = await this.#execute(CLAIM, [name]);
    return rows[0]?.["claimed"] === 1;
  }

  async lock(name: string, mode: "shared" | "exclusive"): Promise<void> {
    await this.#execute(LOCK[mode], [name]);
  }

  /**
   * From now on its statements are rejected: they would run inside another unit of work, or outside any transaction.
   */
  end(): void {
    this.#ended = true;
  }

  async #execute(sql: string, parameters?: readonly SqlValue[]): Promise<QueryResult> {
    if (this.#ended) throw endedError();
    try {
      const result = await this.#beginning.send(READ.test(sql), () => {
        if (this.#ended) throw endedError();
        return this.#connection.execute(sql, parameters);
      });
      if (result.command !== "SELECT" && result.changed > 0) this.changed = true;
      return result;
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }
}

function endedError(): Error {
  return new Error("This transaction has ended: a unit must await each of its statements.");
}

const READ = /^\s*SELECT\b/i;

/** Returns the number of a name. Names are specific to the schema, and to locks or claims. */
const numberOf = (kind: string) => `hashtextextended(current_schema() || ' ${kind}' || $1, 0)`;
const CLAIM = `SELECT CAST(pg_try_advisory_xact_lock(${numberOf("")}) AS INTEGER) AS claimed`;
const LOCK = {
  shared: `SELECT pg_advisory_xact_lock_shared(${numberOf("lock ")})`,
  exclusive: `SELECT pg_advisory_xact_lock(${numberOf("lock ")})`,
};
