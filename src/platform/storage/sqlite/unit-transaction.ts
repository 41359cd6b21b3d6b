import type { Connection } from "./connection.ts";
import { type SqlValue, StorageUnavailableError, type Topic, type Transaction } from "../database.ts";

/** One unit of work's view of the writer's connection, from its savepoint to its end. */
export class UnitTransaction implements Transaction {
  readonly dialect = "sqlite";
  readonly #connection: Connection;
  readonly #topics = new Set<Topic>();
  #ended = false;
  #statements = 0;
  #trouble: StorageUnavailableError | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async get<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#execute(() => this.#connection.get(sql, parameters)) as Row | undefined;
  }

  async all<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    return this.#execute(() => this.#connection.all(sql, parameters)) as Row[];
  }

  allShared<Row>(sql: string, parameters?: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.all(sql, parameters);
  }

  async run(sql: string, parameters?: readonly SqlValue[]): Promise<number> {
    return this.#execute(() => this.#connection.run(sql, parameters));
  }

  notify(topic: Topic): void {
    this.#topics.add(topic);
  }

  /** Units run one at a time here. */
  async claim(): Promise<boolean> {
    return true;
  }

  /** Units run one at a time here. */
  async lock(): Promise<void> {}

  /** From now on its statements are rejected: they would run inside another unit, or outside any transaction. */
  end(): void {
    this.#ended = true;
  }

  get topics(): ReadonlySet<Topic> {
    return this.#topics;
  }

  /** Number of statements that the unit ran. */
  get statements(): number {
    return this.#statements;
  }

  /** A disk failure in a statement, whether or not the unit caught the error. */
  get trouble(): StorageUnavailableError | undefined {
    return this.#trouble;
  }

  #execute<Result>(statement: () => Result): Result {
    if (this.#ended) throw new Error("This transaction has ended: a unit must await each of its statements.");
    // SQLite may have rolled everything back: a further statement would be committed alone.
    if (this.#trouble !== undefined) throw this.#trouble;
    this.#statements += 1;
    try {
      return statement();
    } catch (error) {
      if (error instanceof StorageUnavailableError) this.#trouble = error;
      throw error;
    }
  }
}
