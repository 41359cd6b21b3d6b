import type { Hold } from "../database.ts";
import type { PostgresConnection } from "./connection.ts";

/** A schema has names of its own. */
const LOCK = "hashtextextended(current_schema() || ' hold ' || $1, 0)";

/**
 * Holds names, all of them on one connection, which is there while any is held: the pool's are for transactions, and a
 * hold may take minutes. Where that connection is lost, all of them are free again.
 */
export class Holds {
  readonly #open: (onEnd: () => void) => Promise<PostgresConnection>;
  /** What this process holds or asks for: of one connection the server would let it have a name twice. */
  readonly #names = new Set<string>();
  #connection: Promise<PostgresConnection> | undefined;

  constructor(open: (onEnd: () => void) => Promise<PostgresConnection>) {
    this.#open = open;
  }

  async hold(name: string): Promise<Hold | undefined> {
    if (this.#names.has(name)) return undefined;
    this.#names.add(name);
    try {
      const connection = await this.#shared();
      const sql = `SELECT CAST(pg_try_advisory_lock(${LOCK}) AS INTEGER) AS held`;
      const { rows } = await connection.execute(sql, [name]);
      if (rows[0]?.["held"] === 1) return { release: () => this.#release(name, connection) };
    } catch (error) {
      await this.#forget(name);
      throw error;
    }
    await this.#forget(name);
    return undefined;
  }

  /** Lets go of everything. */
  async close(): Promise<void> {
    this.#names.clear();
    await this.#closeUnused();
  }

  #shared(): Promise<PostgresConnection> {
    if (this.#connection !== undefined) return this.#connection;
    const drop = () => {
      if (this.#connection === opening) this.#connection = undefined;
    };
    const opening = this.#open(drop);
    opening.catch(drop);
    this.#connection = opening;
    return opening;
  }

  async #release(name: string, connection: PostgresConnection): Promise<void> {
    // Where that fails the server lets go by itself, once the connection has ended.
    await connection.execute(`SELECT pg_advisory_unlock(${LOCK})`, [name]).catch(() => connection.destroy());
    await this.#forget(name);
  }

  async #forget(name: string): Promise<void> {
    this.#names.delete(name);
    await this.#closeUnused();
  }

  async #closeUnused(): Promise<void> {
    if (this.#names.size > 0) return;
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.then(
      (opened) => opened.close(),
      () => {},
    );
  }
}
