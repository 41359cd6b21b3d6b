import type { SqlValue } from "../database.ts";
import { asUnavailable, isBusy } from "./errors.ts";
import type { SqliteDatabase, SqliteRuntime, SqliteStatement } from "./runtime.ts";
import { type Translation, arrange, translate } from "../statements.ts";

/** Texts are constants in the code. The limit only keeps a list of varying length from filling the memory. */
const MAX_STATEMENTS = 500;
const NO_PARAMETERS: readonly SqlValue[] = [];

/** @photostructure/sqlite crashes if a database is collected before its statements, so none ever is. */
const openDatabases = new Set<SqliteDatabase>();

type Row = Record<string, unknown>;
type Prepared = Translation & { readonly statement: SqliteStatement };

/** Pause before retrying what another program's lock prevented. */
const LOCK_POLL_MILLISECONDS = 5;

/**
 * Runs a statement, and retries it while another program's lock prevents it, for at most this many milliseconds. The
 * connection's own `busy_timeout` would block the event loop. The first attempt runs before this returns.
 */
export async function waitForLock<Result>(attempt: () => Result, milliseconds: number): Promise<Result> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, LOCK_POLL_MILLISECONDS);
    });
  }
}

/**
 * One connection to an SQLite file, with its prepared statements. Disk failures are thrown as StorageUnavailableError.
 */
export class Connection {
  readonly #database: SqliteDatabase;
  readonly #prepared = new Map<string, Prepared>();

  /** Throws SQLite's own error if the file cannot be opened. */
  constructor(sqlite: SqliteRuntime, file: string, options: { readOnly?: boolean } = {}) {
    this.#database = new sqlite.DatabaseSync(file, options);
    openDatabases.add(this.#database);
  }

  get(sql: string, parameters = NO_PARAMETERS): Row | undefined {
    const row = this.#execute(sql, parameters, (statement, values) => statement.get(...values));
    return row === undefined ? undefined : plain([row])[0];
  }

  all(sql: string, parameters = NO_PARAMETERS): Row[] {
    return plain(this.#execute(sql, parameters, (statement, values) => statement.all(...values)));
  }

  run(sql: string, parameters = NO_PARAMETERS): number {
    return Number(this.#execute(sql, parameters, (statement, values) => statement.run(...values)).changes);
  }

  /** Runs statements without parameters and results. Throws SQLite's own errors. */
  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Rolls back an open transaction. SQLite may have done so automatically. */
  rollBack(): void {
    try {
      this.#database.exec("ROLLBACK");
    } catch {
      // No transaction is open.
    }
  }

  /** Rolls back and closes. */
  close(): void {
    // @photostructure/sqlite closes the file only when the statements are collected, but no lock may outlast this call.
    this.rollBack();
    this.#prepared.clear();
    this.#database.close();
  }

  #execute<Result>(
    sql: string,
    parameters: readonly SqlValue[],
    call: (statement: SqliteStatement, values: readonly SqlValue[]) => Result,
  ): Result {
    try {
      const prepared = this.#prepared.get(sql) ?? this.#prepare(sql);
      return call(prepared.statement, arrange(prepared, parameters));
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  #prepare(sql: string): Prepared {
    const translation = translate(sql);
    const prepared = { ...translation, statement: this.#database.prepare(translation.sql) };
    const oldest = this.#prepared.keys().next();
    if (this.#prepared.size >= MAX_STATEMENTS && !oldest.done) this.#prepared.delete(oldest.value);
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** SQLite's rows lack a prototype and are slow to read. Copying them costs what it later saves. */
function plain(rows: readonly Row[]): Row[] {
  const columns = Object.keys(rows[0] ?? {});
  return rows.map((row) => {
    const copy: Row = {};
    for (const column of columns) copy[column] = row[column];
    return copy;
  });
}
