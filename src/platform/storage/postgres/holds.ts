import type { Hold } from "../database.ts";
import type { PostgresConnection } from "./connection.ts";
import { asUnavailable } from "./errors.ts";

/** A schema has names of its own. */
const LOCK = "hashtextextended(current_schema() || ' hold ' || $1, 0)";

/** Holds names, each on a connection of its own: the pool's are for transactions, and a hold may take minutes. */
export class Holds {
  readonly #open: () => Promise<PostgresConnection>;
  readonly #connections = new Set<PostgresConnection>();

  constructor(open: () => Promise<PostgresConnection>) {
    this.#open = open;
  }

  async hold(name: string): Promise<Hold | undefined> {
    const connection = await this.#open().catch((error: unknown) => {
      throw asUnavailable(error);
    });
    this.#connections.add(connection);
    const close = () => {
      this.#connections.delete(connection);
      return connection.close();
    };
    try {
      const sql = `SELECT CAST(pg_try_advisory_lock(${LOCK}) AS INTEGER) AS held`;
      const { rows } = await connection.execute(sql, [name]);
      if (rows[0]?.["held"] !== 1) {
        await close();
        return undefined;
      }
    } catch (error) {
      await close();
      throw error;
    }
    return {
      async release() {
        // Where that fails the server lets go by itself, once the connection has ended.
        await connection.execute(`SELECT pg_advisory_unlock(${LOCK})`, [name]).catch(() => connection.destroy());
        await close();
      },
    };
  }

  /** Lets go of everything. */
  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }
}
