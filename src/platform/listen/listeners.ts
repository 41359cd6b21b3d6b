import type { Duplex } from "node:stream";
import { Periodic } from "../time/periodic.ts";
import type { With } from "../tools.ts";
import type { ListenTarget } from "../../contract/listen.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { StorageUnavailableError, type Queries } from "../storage/database.ts";
import {
  deleteOldListenerCounts,
  saveListenerCount,
  touchListeners,
  findListener,
  insertListener,
  listenerCountsElsewhere,
  type ListenerRow,
} from "../storage/listeners.ts";
import { formatSigningSecret } from "../../contract/credentials.ts";
import type { Session } from "../domain/deliveries.ts";
import type { Caller, Tenant } from "../domain/request-context.ts";
import type { ServerResponse } from "node:http";
import { ApiError } from "../domain/api-error.ts";
import { credentialError } from "../http/credentials.ts";

/** The dependencies of the listener registry. */
export type ListenerTools = With<"database" | "vault" | "clock" | "random" | "newId" | "log">;

/** A listener is recorded as seen at most this often, not at every connection. */
const COARSENESS_MILLISECONDS = 86_400_000;

/**
 * Returns the listener of an account, user and device name, with its signing secret. It is created at the first
 * connection and stays the same, so that a receiver is configured once. An API key stands for its account.
 */
export async function openListener(tools: ListenerTools, caller: Caller, device: string) {
  const { database, vault, clock, random, newId } = tools;
  const opened = ({ id, secret }: ListenerRow) => ({ id, secret: vault.open(secret, id) });
  const environment = caller.tenant.environment;
  const owner = caller.user?.id ?? caller.tenant.account.id;
  const now = clock.now();
  const existing = await findListener(database, environment, owner, device);
  if (existing !== undefined && now - (existing.seen_at ?? 0) < COARSENESS_MILLISECONDS) return opened(existing);
  const id = existing?.id ?? newId("listener", now);
  const secret = existing?.secret ?? vault.seal(formatSigningSecret(random.bytes(32)), id);
  const row = { id, environment, owner, device, secret, seen_at: now, created: existing?.created ?? now };
  // Read again, because another process may have created it at the same time.
  const stored = await database.write(async (tx) => {
    await insertListener(tx, row);
    return findListener(tx, environment, owner, device);
  });
  return opened(stored!);
}

/** How often a process reports that its connections are alive. */
const COUNT_INTERVAL_MILLISECONDS = 15_000;
/** A process that has not reported for this long has died, and its connections with it. */
const SILENT_MILLISECONDS = 3 * COUNT_INTERVAL_MILLISECONDS;
const DAY_MILLISECONDS = 86_400_000;

/** A connection of `service listen`. Times are real, in Unix milliseconds. */
export interface Listener {
  id: string;
  tenant: Tenant;
  subscriptions: readonly string[];
  /** Where it forwards; empty until the client has said so, and if it only prints. */
  targets: readonly ListenTarget[];
  once?: boolean | undefined;
  waiting?: string | undefined;
  remedy?: string | undefined;
  connectedAt: number;
  disconnectedAt?: number;
}

function toSession(listener: Listener): Session {
  const { id, subscriptions, targets, once, waiting = null, remedy = null, connectedAt, disconnectedAt } = listener;
  return {
    listener: id,
    events: [...subscriptions],
    targets: [...targets],
    waiting,
    remedy,
    connected_at: formatTimestamp(connectedAt),
    disconnected_at: disconnectedAt === undefined ? null : formatTimestamp(disconnectedAt),
    openedAt: connectedAt,
    once,
  };
}

/** Returns a filter of the connections in a sandbox, also before they know that it was reset. */
const isOf =
  ({ account, livemode }: Tenant) =>
  ({ tenant }: Listener): boolean =>
    tenant.account.id === account.id && tenant.livemode === livemode;

/** Closed connections that are remembered. */
const MAX_ENDED = 1000;
/** How many of them are listed for a sandbox. */
const MAX_LISTED = 20;

/**
 * Tracks who listens: records in the database that the listeners of this process are in use and, if several processes
 * share it, which connections each of them has.
 */
export class ListenerRegistry {
  readonly #tools: ListenerTools;
  readonly #process: string;
  readonly #listeners = new Set<Listener>();
  /** By listener and targets; the last to end is last. Only explanations need them: in memory. */
  readonly #ended = new Map<string, Listener>();
  readonly #isOnlyProcess: boolean;
  readonly #countReports: Periodic;
  readonly #seenUpdates: Periodic;
  /** Environments whose connections have changed since the last report. */
  readonly #unreported = new Set<number>();
  #sending: Promise<void> | undefined;

  constructor(tools: ListenerTools) {
    this.#tools = tools;
    this.#process = Buffer.from(tools.random.bytes(12)).toString("base64url");
    this.#isOnlyProcess = tools.database.dialect === "sqlite";
    this.#countReports = new Periodic(tools, COUNT_INTERVAL_MILLISECONDS, () => this.#reportAll());
    this.#seenUpdates = new Periodic(tools, DAY_MILLISECONDS, () => this.#recordSeen());
    this.#seenUpdates.start();
    if (!this.#isOnlyProcess) this.#countReports.start();
  }

  /**
   * Counts a connection until it is closed. Returns how many others listen to its environment, in any process. Of two
   * that connect at once, at least one is notified of the other.
   */
  async enter(listener: Listener, connection: Duplex): Promise<number> {
    if (connection.destroyed) return 0;
    const { environment } = listener.tenant;
    const others = this.#ownIn(environment).length;
    this.#listeners.add(listener);
    connection.once("close", () => {
      this.#listeners.delete(listener);
      this.#remember(listener);
      void this.#report(listener.tenant.environment);
    });
    await this.#report(environment);
    return others + (await this.#elsewhere(this.#tools.database, environment)).length;
  }

  /** Records where a connection forwards, or why it does not at present. */
  setTargets(listener: Listener, forwarding: Pick<Listener, "targets" | "once" | "waiting" | "remedy">): void {
    Object.assign(listener, forwarding);
    void this.#report(listener.tenant.environment);
  }

  /** Returns the open connections in a sandbox, in any process. */
  async sessionsIn(queries: Queries, tenant: Tenant): Promise<Session[]> {
    const own = [...this.#listeners].filter(isOf(tenant)).map(toSession);
    return [...own, ...(await this.#elsewhere(queries, tenant.environment))];
  }

  /** Returns the last connections that forwarded in a sandbox, at this process: one for the same targets, newest first. */
  endedIn(tenant: Tenant): Session[] {
    return [...this.#ended.values()].filter(isOf(tenant)).map(toSession).reverse().slice(0, MAX_LISTED);
  }

  /** A connection without targets only printed events, or asked for the secret. One for a replay ends at once. */
  #remember(listener: Listener): void {
    if (listener.targets.length === 0 || listener.once === true) return;
    listener.disconnectedAt = this.#tools.clock.now();
    const key = JSON.stringify([listener.id, listener.targets]);
    this.#ended.delete(key);
    this.#ended.set(key, listener);
    if (this.#ended.size > MAX_ENDED) this.#ended.delete(this.#ended.keys().next().value!);
  }

  /** Resolves once all changes are reported. */
  async close(): Promise<void> {
    await Promise.all([this.#countReports.stop(), this.#seenUpdates.stop()]);
    await this.#sending;
  }

  async #elsewhere(queries: Queries, environment: number): Promise<Session[]> {
    if (this.#isOnlyProcess) return [];
    const since = this.#tools.clock.now() - SILENT_MILLISECONDS;
    const reports = await listenerCountsElsewhere(queries, environment, this.#process, since);
    return reports.flatMap(({ connections }) => JSON.parse(connections ?? "[]") as Session[]);
  }

  #ownIn(environment: number): Listener[] {
    return [...this.#listeners].filter(({ tenant }) => tenant.environment === environment);
  }

  /**
   * Tells other processes who listens to an environment. Changes made meanwhile are reported afterwards, together. Never
   * rejects.
   */
  async #report(environment: number): Promise<void> {
    if (this.#isOnlyProcess) return;
    this.#unreported.add(environment);
    this.#sending ??= this.#sendReports().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #sendReports(): Promise<void> {
    const { database, clock, log } = this.#tools;
    while (this.#unreported.size > 0) {
      const environments = [...this.#unreported];
      this.#unreported.clear();
      try {
        await database.write(
          async (tx) => {
            for (const environment of environments) {
              const process = this.#process;
              const own = this.#ownIn(environment);
              const connections = JSON.stringify(own.map(toSession));
              const report = { environment, process, sessions: own.length, connections, reported_at: clock.now() };
              await saveListenerCount(tx, report);
            }
          },
          { isolation: "read committed" },
        );
      } catch (error) {
        // An unreachable database gets the number next time. The previous report expires.
        if (!(error instanceof StorageUnavailableError)) log.error({ err: error }, "listeners could not be counted");
      }
    }
  }

  async #reportAll(): Promise<void> {
    const { database, clock } = this.#tools;
    await Promise.all(
      [...new Set([...this.#listeners].map(({ tenant }) => tenant.environment))].map((one) => this.#report(one)),
    );
    await database.write((tx) => deleteOldListenerCounts(tx, clock.now() - SILENT_MILLISECONDS), {
      isolation: "read committed",
    });
  }

  async #recordSeen(): Promise<void> {
    const { database, clock } = this.#tools;
    const ids = [...new Set([...this.#listeners].map(({ id }) => id))];
    await database.write((tx) => touchListeners(tx, ids, clock.now()));
  }
}

/** A client that lost its connection without a close frame has its slot back after the next heartbeats. */
const RETRY_AFTER_SECONDS = 5;

/** How many connections of a kind this process holds open for each environment. */
export class OpenConnections {
  readonly #kind: string;
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  /** `kind` is a plural, for people: "listeners". */
  constructor(kind: string, max: number) {
    this.#kind = kind;
    this.#max = max;
  }

  /** Takes a slot until the connection is closed. Throws ApiError `connection_limit`. */
  take({ account, name }: Tenant, connection: Duplex | ServerResponse): void {
    const environment = `${account.id} ${name}`;
    const count = this.#counts.get(environment) ?? 0;
    if (count >= this.#max) {
      throw new ApiError(
        "connection_limit",
        `The environment has ${this.#max} ${this.#kind} open, which is the maximum. Close one, or try again later.`,
        { headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } },
      );
    }
    if (connection.destroyed) return;
    this.#counts.set(environment, count + 1);
    connection.once("close", () => this.#release(environment));
  }

  #release(environment: string): void {
    const left = this.#counts.get(environment)! - 1;
    if (left === 0) this.#counts.delete(environment);
    else this.#counts.set(environment, left);
  }
}

const POLL_MS = 1000;

/** A connection that was opened by a credential. */
export interface Watched {
  /** Ends it because its credential may no longer be used. */
  reject(error: ApiError): void;
}

/**
 * Ends connections that were opened by a credential that was revoked or has expired, at most a second later. It queries
 * the database, since another process may have revoked it, once per credential.
 */
export class CredentialWatch {
  readonly #tools: With<"database" | "clock" | "log">;
  readonly #open: ReadonlyMap<Watched, Caller>;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(tools: With<"database" | "clock" | "log">, open: ReadonlyMap<Watched, Caller>) {
    this.#tools = tools;
    this.#open = open;
  }

  /** Checks from now on, while anything is open. Call this whenever something is opened. */
  start(): void {
    if (this.#stopped) return;
    this.#cancel ??= this.#tools.clock.after(POLL_MS, () => {
      this.#poll().catch((error: unknown) => {
        this.#tools.log.warn({ err: error }, "the credentials of open connections could not be checked");
      });
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  async #poll(): Promise<void> {
    const { database, clock } = this.#tools;
    const looked = new Map<string, ReturnType<typeof credentialError>>();
    try {
      for (const [watched, { credential }] of this.#open) {
        const error = looked.get(credential.id) ?? credentialError(database, credential, clock.now());
        looked.set(credential.id, error);
        const found = await error;
        if (found !== undefined) watched.reject(found);
      }
    } finally {
      this.#cancel = undefined;
      if (this.#open.size > 0) this.start();
    }
  }
}
