import type { Log } from "../../ports.ts";
import { StorageUnavailableError, type Topic } from "../database.ts";
import type { PostgresConnection } from "./connection.ts";

/**
 * How often a process notifies the others, however much it commits: a NOTIFY in each transaction would serialize them.
 */
const GATHER_MILLISECONDS = 50;
const RECONNECT_MILLISECONDS = 500;
const TOPICS: readonly Topic[] = ["events", "deliveries", "resets"];

/**
 * Notifies the other processes of commits, and receives their notifications, over one connection. Lost ones are
 * compensated by periodic polling of every subscriber.
 */
export class Notifications {
  readonly #open: (onEnd: () => void) => Promise<PostgresConnection>;
  readonly #notified: (topics: Iterable<Topic>) => void;
  readonly #log: Log | undefined;
  readonly #pending = new Set<Topic>();
  #prefix = "";
  #connection: PostgresConnection | undefined;
  #sendTimer: NodeJS.Timeout | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    open: (onEnd: () => void) => Promise<PostgresConnection>,
    notified: (topics: Iterable<Topic>) => void,
    log: Log | undefined,
  ) {
    this.#open = open;
    this.#notified = notified;
    this.#log = log;
  }

  /** Rejects if the first connection fails. Later ones are opened again as often as needed. */
  async start(): Promise<void> {
    let isUsed = false;
    // If it is lost before, its caller opens another, and only once.
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
    // It was being opened when everything was closed.
    if (this.#closed) await connection.close();
  }

  notify(topics: Iterable<Topic>): void {
    for (const topic of topics) this.#pending.add(topic);
    if (this.#sendTimer !== undefined || this.#closed) return;
    this.#send();
    this.#sendTimer = setTimeout(() => {
      this.#sendTimer = undefined;
      if (this.#pending.size > 0) this.notify([]);
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
    // Channels belong to the database; each schema in it is a separate deployment.
    this.#prefix = `service_${String(rows[0]?.["hash"])}_`;
    connection.onNotification((channel, processId) => {
      if (processId === connection.processId || !channel.startsWith(this.#prefix)) return;
      this.#notified([channel.slice(this.#prefix.length) as Topic]);
    });
    for (const topic of TOPICS) await connection.execute(`LISTEN ${this.#prefix}${topic}`);
  }

  #send(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    for (const topic of this.#pending) {
      // The loss of the connection is handled separately.
      connection.execute(`NOTIFY ${this.#prefix}${topic}`).catch(() => {});
    }
    this.#pending.clear();
  }

  #reopen(): void {
    this.#connection = undefined;
    if (this.#closed) return;
    this.#openTimer = setTimeout(() => {
      this.start().then(
        // Notifications sent meanwhile were missed.
        () => this.#notified(TOPICS),
        (error: unknown) => {
          this.#log?.warn({ err: error }, "database notifications are unavailable; polling continues");
          this.#reopen();
        },
      );
    }, RECONNECT_MILLISECONDS).unref();
  }
}
