import type { Socket } from "node:net";
import { Client, type ClientConfig, type CustomTypesConfig, types } from "pg";
import { type SqlValue, StorageUnavailableError } from "../database.ts";
import { assertParameters, translate } from "../statements.ts";
import { asLost, asUnavailable, endsConnection } from "./errors.ts";

/** Longer texts are sent whole each time, so that a list of varying length does not fill the server's memory. */
const MAX_STATEMENTS = 500;
const NO_PARAMETERS: readonly SqlValue[] = [];
/** A server that has vanished sends nothing, and TCP would wait for a quarter of an hour. */
const CLOSE_MILLISECONDS = 2_000;
const INT8 = 20;
const NUMERIC = 1700;

type Row = Record<string, unknown>;

export interface QueryResult {
  readonly rows: Row[];
  /** Returns how many rows a statement changed. */
  readonly changed: number;
  readonly command: string;
}

/** The client library's state of a connection. */
interface ClientProtocol {
  stream: Socket;
  /** Statements by name that were sent to be prepared and are not confirmed or rejected. */
  submittedNamedStatements: Record<string, string>;
}

/** The number of parameters of each text, and the name it is prepared under. */
const prepared = new Map<string, { name: string | undefined; count: number }>();

function prepare(sql: string): { name: string | undefined; count: number } {
  const existing = prepared.get(sql);
  if (existing !== undefined) return existing;
  const { count } = translate(sql);
  if (prepared.size >= MAX_STATEMENTS) return { name: undefined, count };
  const statement = { name: `s${prepared.size}`, count };
  prepared.set(sql, statement);
  return statement;
}

/** The port's values: numbers within ±2^53, never text for a number. */
const VALUES: CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") => {
    if (oid === INT8) return readInteger;
    return oid === NUMERIC ? Number : types.getTypeParser(oid, format);
  }) as CustomTypesConfig["getTypeParser"],
};

function readInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`${text} is not a number within ±2^53.`);
}

/**
 * One connection. Statements are sent without waiting for earlier results, which the server returns in order. Failures
 * of server or network are thrown as StorageUnavailableError.
 */
export class PostgresConnection {
  readonly #client: Client;
  #open = true;
  /** True after `end` until the socket is closed, too. */
  #destroyed = false;
  /** When each unanswered statement was sent, oldest first. */
  readonly #pending: number[] = [];
  #gathering = false;
  readonly #now: () => number;

  private constructor(client: Client, now: () => number, onEnd: () => void) {
    this.#client = client;
    this.#now = now;
    const end = () => {
      if (!this.#open) return;
      this.#open = false;
      this.destroy();
      onEnd();
    };
    // The client library rejects every unanswered statement automatically.
    client.on("error", end);
    client.on("end", end);
  }

  /** Rejects with StorageUnavailableError, whose cause is the error of the network or the server. */
  static async open(config: ClientConfig, now: () => number, onEnd = () => {}): Promise<PostgresConnection> {
    const client = new Client({ ...config, pipeline: true, keepAlive: true, types: VALUES });
    const connection = new PostgresConnection(client, now, onEnd);
    try {
      await client.connect();
      return connection;
    } catch (error) {
      connection.#open = false;
      client.end().catch(() => {});
      throw asLost(error);
    }
  }

  get isOpen(): boolean {
    return this.#open && !this.#destroyed;
  }

  /** How many statements are unanswered. */
  get inFlight(): number {
    return this.#pending.length;
  }

  /** Returns how long the oldest unanswered statement has waited, in milliseconds. */
  get waited(): number {
    const [oldest] = this.#pending;
    return oldest === undefined ? 0 : this.#now() - oldest;
  }

  async execute(sql: string, parameters = NO_PARAMETERS): Promise<QueryResult> {
    const { name, count } = prepare(sql);
    assertParameters(sql, count, parameters);
    if (!this.isOpen) throw new StorageUnavailableError("Storage is unavailable: the connection was lost.");
    this.#pending.push(this.#now());
    this.#gather();
    try {
      const query = { text: sql, values: parameters as SqlValue[] };
      const isNamed = name !== undefined && !this.#isBeingPrepared(name);
      const { rows, rowCount, command } = await this.#client.query<Row>(isNamed ? { ...query, name } : query);
      return { rows, changed: rowCount ?? 0, command };
    } catch (error) {
      if (endsConnection(error)) this.destroy();
      throw this.isOpen ? asUnavailable(error) : asLost(error);
    } finally {
      this.#pending.shift();
    }
  }

  /** Runs a statement that will not be repeated, without preparing it. */
  async executeOnce(sql: string): Promise<QueryResult> {
    const { rows, rowCount, command } = await this.#client.query<Row>({ text: sql, values: [] });
    return { rows, changed: rowCount ?? 0, command };
  }

  onNotification(callback: (channel: string, processId: number) => void): void {
    this.#client.on("notification", ({ channel, processId }) => callback(channel, processId));
  }

  /** Returns the ID of the server process of this connection. */
  get processId(): number | null {
    return (this.#client as unknown as { processID: number | null }).processID;
  }

  /** Closes it at once. Unanswered statements are rejected. */
  destroy(): void {
    this.#destroyed = true;
    this.#stream.destroy();
  }

  /**
   * Returns true while the server has not confirmed the name. Preparing may still fail, on a lock or a timeout, and
   * every statement already sent by that name would fail with it.
   */
  #isBeingPrepared(name: string): boolean {
    return this.#protocol.submittedNamedStatements[name] !== undefined;
  }

  /** Statements of one event loop turn are sent at once: a system call costs more than creating one. */
  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    const stream = this.#stream;
    stream.cork();
    process.nextTick(() => {
      this.#gathering = false;
      stream.uncork();
    });
  }

  get #stream(): Socket {
    return this.#protocol.stream;
  }

  get #protocol(): ClientProtocol {
    return (this.#client as unknown as { connection: ClientProtocol }).connection;
  }

  /** Closes it once sent statements are answered, or if the server is silent. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    const cut = setTimeout(() => this.destroy(), CLOSE_MILLISECONDS);
    await this.#client.end();
    clearTimeout(cut);
  }
}
