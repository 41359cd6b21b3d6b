import type { Log } from "../../ports.ts";
import { StorageUnavailableError, type Topic } from "../database.ts";
import type { PostgresConnection } from "./connection.ts";

/** A process tells the others once in so long, whatever it commits: a NOTIFY in each transaction would queue them all up. */
const GATHER_MILLISECONDS = 50;
const RECONNECT_MILLISECONDS = 500;
const TOPICS: readonly Topic[] = ["events", "deliveries"];

/**
 * Tells the other processes what was committed, and hears it from them, over one connection. What is lost on the way is
 * found by whoever looks for itself from time to time, as everybody does.
 */
export class Notifications {
  readonly #open: (onEnd: () => void) => Promise<PostgresConnection>;
  readonly #heard: (topics: Iterable<Topic>) => void;
  readonly #log: Log | undefined;
  readonly #pending = new Set<Topic>();
  #prefix = "";
  #connection: PostgresConnection | undefined;
  #sendTimer: NodeJS.Timeout | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    open: (onEnd: () => void) => Promise<PostgresConnection>,
    heard: (topics: Iterable<Topic>) => void,
    log: Log | undefined,
  ) {
    this.#open = open;
    this.#heard = heard;
    this.#log = log;
  }

  /** Rejects where the first connection cannot be made; a later one is made anew as often as it takes. */
  async start(): Promise<void> {
    let isUsed = false;
    // One that is lost before is made anew by whoever asked for it, and once only.
    const connection = await this.#open(() => {
      if (isUsed) this.#reopen();
    });
    try {
      await this.#listenOn(connection);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    if (!connection.isOpen) throw new StorageUnavailableError("Storage is unavailable: the connection was lost.");
    isUsed = true;
    this.#connection = connection;
    // It was being made when everything was closed.
    if (this.#closed) await connection.close();
  }

  tell(topics: Iterable<Topic>): void {
    for (const topic of topics) this.#pending.add(topic);
    if (this.#sendTimer !== undefined || this.#closed) return;
    this.#send();
    this.#sendTimer = setTimeout(() => {
      this.#sendTimer = undefined;
      if (this.#pending.size > 0) this.tell([]);
    }, GATHER_MILLISECONDS).unref();
  }

  async close(): Promise<void> {
    this.#send();
    this.#closed = true;
    clearTimeout(this.#sendTimer);
    clearTimeout(this.#openTimer);
    await this.#connection?.close();
  }

  async #listenOn(connection: PostgresConnection): Promise<void> {
    const { rows } = await connection.execute("SELECT left(md5(current_schema()), 12) AS hash");
    // Channels belong to the database; schemas in it are deployments of their own.
    this.#prefix = `service_${String(rows[0]?.["hash"])}_`;
    connection.onNotification((channel, processId) => {
      if (processId === connection.processId || !channel.startsWith(this.#prefix)) return;
      this.#heard([channel.slice(this.#prefix.length) as Topic]);
    });
    for (const topic of TOPICS) await connection.execute(`LISTEN ${this.#prefix}${topic}`);
  }

  #send(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    for (const topic of this.#pending) {
      // The connection's loss is dealt with by itself.
      connection.execute(`NOTIFY ${this.#prefix}${topic}`).catch(() => {});
    }
    this.#pending.clear();
  }

  #reopen(): void {
    this.#connection = undefined;
    if (this.#closed) return;
    this.#openTimer = setTimeout(() => {
      this.start().then(
        // Whatever was said meanwhile was not heard.
        () => this.#heard(TOPICS),
        (error: unknown) => {
          this.#log?.warn({ err: error }, "database notifications are unavailable; polling continues");
          this.#reopen();
        },
      );
    }, RECONNECT_MILLISECONDS).unref();
  }
}
