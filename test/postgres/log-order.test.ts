import * as fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createIdGenerator, lowestIdAt, timeOfId } from "../../src/contract/ids.ts";
import { systemClock, systemRandom } from "../../src/platform/ports.ts";
import { startTail } from "../cli/support/tail.ts";
import { followStream } from "../platform/delivery/support/event-stream.ts";
import { hostPlatform } from "../platform/delivery/support/hosted-platform.ts";
import { listenTo } from "../platform/delivery/support/listen-socket.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const WRITERS = 4;

let server: PostgresServer & { remove(): Promise<void> };
let node: ServedPlatform;
let environment: number;
let writers: Writer[];
/** Notifies clients that wait for events, like a commit of the platform. */
let notify: () => Promise<unknown>;

beforeAll(async () => {
  server = await usePostgres();
  const database = await server.createDatabase();
  node = await serveNode(database);
  const [sandbox] = await server.query<{ id: number }>(
    "SELECT id FROM environments WHERE name = 'sandbox'",
    [],
    database,
  );
  environment = sandbox!.id;
  writers = await Promise.all(Array.from({ length: WRITERS }, () => Writer.connect(database)));
  const { connection } = writers[0]!;
  const { rows } = await connection.query("SELECT left(md5(current_schema()), 12) AS schema");
  notify = () => connection.query(`NOTIFY service_${rows[0].schema}_events`);
});
afterAll(async () => {
  await Promise.all(writers.map(({ connection }) => connection.end()));
  await node.stop();
  await server.remove();
});
beforeEach(() => writers[0]!.connection.query("DELETE FROM events"));

/** A process that writes events, one step at a time. */
class Writer {
  readonly connection: Client;
  private readonly newId = createIdGenerator((size) => systemRandom.bytes(size));
  /** The ID of the uncommitted event. */
  id: string | undefined;
  private isWritten = false;

  private constructor(connection: Client) {
    this.connection = connection;
  }

  static async connect(database: string): Promise<Writer> {
    const connection = new Client({ connectionString: database });
    await connection.connect();
    return new Writer(connection);
  }

  async begin(): Promise<void> {
    if (this.id !== undefined) return;
    this.id = this.newId("event", Date.now());
    await this.connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  }

  /** Assigns the transaction its ID, and the event its number. */
  async write(): Promise<void> {
    if (this.id === undefined || this.isWritten) return;
    this.isWritten = true;
    await this.connection.query(
      "INSERT INTO events (environment, id, type, created, body) VALUES ($1, $2, 'order.created', 1, $3)",
      [environment, this.id, JSON.stringify({ id: this.id })],
    );
  }

  /** Commits, and returns the ID of the event, which is now visible. */
  async commit(): Promise<string | undefined> {
    await this.write();
    return this.end("COMMIT");
  }

  async rollBack(): Promise<void> {
    await this.end("ROLLBACK");
  }

  private async end(sql: string): Promise<string | undefined> {
    const { id } = this;
    if (id !== undefined) await this.connection.query(sql);
    this.id = undefined;
    this.isWritten = false;
    return id;
  }
}

/** A connection that receives events. */
interface Connection {
  ids(): string[];
  gaps(): number;
  /** The position to resume from before the first event. */
  cursor: string;
  close(): Promise<void> | void;
}

async function connect(via: "listener" | "stream", after: string, isResumed: boolean): Promise<Connection> {
  if (via === "listener") {
    const socket = await listenTo(node.baseUrl, node.sandboxKey, `?after=${after}&window=1000`);
    return {
      ids: () => socket.events.map(({ id }) => id),
      gaps: () => socket.frames.filter(({ frame }) => frame === "gap").length,
      cursor: (socket.frames[0] as { cursor: string }).cursor,
      close: () => socket.close(),
    };
  }
  // A client of server-sent events reconnects to the same URL; the position is in a header.
  const stream = await followStream(node.baseUrl, node.sandboxKey, isResumed ? { lastEventId: after } : { after });
  return {
    ids: () => stream.messages.filter(({ event }) => event === undefined || event === "event").map(({ id }) => id!),
    gaps: () => stream.messages.filter(({ event }) => event === "gap").length,
    cursor: (JSON.parse(stream.messages[0]!.data) as { cursor: string }).cursor,
    close: () => stream.close(),
  };
}

/** A client that reconnects from the last received event. */
class Follower {
  private readonly via: "listener" | "stream";
  private connection: Connection | undefined;
  private readonly received = new Set<string>();
  private gaps = 0;
  private cursor = "";
  /** The number of times that the database lost this client's last received event. */
  losses = 0;
  /** Returns true for an event that this client must receive. */
  expects: (id: string) => boolean = () => false;

  constructor(via: "listener" | "stream") {
    this.via = via;
  }

  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  get lastReceived(): string {
    return this.cursor;
  }

  async start(after: string): Promise<void> {
    this.connection = await connect(this.via, after, false);
    this.cursor = this.connection.cursor;
  }

  async resume(): Promise<void> {
    this.connection ??= await connect(this.via, this.cursor, true);
  }

  async cut(): Promise<void> {
    await this.connection?.close();
    ({ gaps: this.gaps } = this.take());
    this.connection = undefined;
  }

  /** Returns the events received by now. */
  take(): { received: ReadonlySet<string>; gaps: number } {
    const ids = this.connection?.ids() ?? [];
    for (const id of ids) this.received.add(id);
    this.cursor = ids.at(-1) ?? this.cursor;
    return { received: this.received, gaps: this.gaps + (this.connection?.gaps() ?? 0) };
  }
}

const who = fc.nat({ max: 3 });
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("begin", "write", "commit", "commit"), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("roll back"), who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("start"),
      who,
      via: fc.constantFrom("listener" as const, "stream" as const),
      /** Returns `now`, or the time of an earlier event, counted from the last one. */
      from: fc.oneof(fc.constant("now" as const), fc.nat({ max: 6 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cut", "resume", "cut and lose"), who }) },
);

describe("a client that reads and resumes the event log anywhere", () => {
  it("receives every event, in whatever order transactions of several processes begin, write and commit", async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(action, { minLength: 20, maxLength: 60 }), async (actions) => {
          const openTransactions: string[] = [];
          const committed: string[] = [];
          const lost = new Set<string>();
          const followers: Follower[] = [];
          for (const step of actions) {
            const writer = writers[step.who]!;
            const follower = followers[step.who];
            if (step.do === "begin") {
              await writer.begin();
              if (writer.id !== openTransactions.at(-1)) openTransactions.push(writer.id!);
            } else if (step.do === "write") await writer.write();
            else if (step.do === "roll back") await writer.rollBack();
            else if (step.do === "commit") {
              const id = await writer.commit();
              if (id !== undefined) committed.push(id);
            } else if ("from" in step) {
              if (followers.length > WRITERS) continue;
              const started = new Follower(step.via);
              if (step.from === "now") {
                await started.start("now");
                const before = new Set(committed);
                started.expects = (id) => !before.has(id);
              } else {
                const bound = lowestIdAt(
                  "event",
                  timeOfId(openTransactions.at(-1 - step.from) ?? lowestIdAt("event", 0)),
                );
                await started.start(bound);
                started.expects = (id) => id >= bound;
              }
              followers.push(started);
            } else if (follower !== undefined && step.do === "resume") await follower.resume();
            else if (follower?.isConnected === true) {
              await follower.cut();
              const isStored = committed.includes(follower.lastReceived) && !lost.has(follower.lastReceived);
              if (step.do === "cut" || !isStored) continue;
              // Simulates a failover to a standby that lacks the last commits.
              await writers[WRITERS - 1]!.rollBack();
              await writers[WRITERS - 1]!.connection.query("DELETE FROM events WHERE id = $1", [follower.lastReceived]);
              lost.add(follower.lastReceived);
              follower.losses += 1;
            }
          }
          for (const writer of writers) {
            const id = await writer.commit();
            if (id !== undefined) committed.push(id);
          }
          for (const follower of followers) await follower.resume();
          await notify();
          for (const follower of followers) {
            await vi.waitFor(
              () => {
                const { received, gaps } = follower.take();
                const missing = committed.filter((id) => follower.expects(id) && !received.has(id) && !lost.has(id));
                expect(missing).toEqual([]);
                expect(gaps).toBeGreaterThanOrEqual(follower.losses);
              },
              { timeout: 60_000, interval: 5 },
            );
          }
          for (const follower of followers) await follower.cut();
        })
        .beforeEach(async () => {
          for (const writer of writers) await writer.rollBack();
          await writers[0]!.connection.query("DELETE FROM events");
        }),
      { numRuns: 12, endOnFailure: true },
    );
  });
});

describe("a list of events", () => {
  let api: Api;
  beforeAll(() => {
    api = apiOf(node.baseUrl, node.sandboxKey);
  });

  const list = async (query = ""): Promise<string[]> => {
    const { status, body } = await api("GET", `/v1/events${query}`);
    expect(status).toBe(200);
    return body.data.map(({ id }: { id: string }) => id);
  };

  it.each(["?limit=100", "?type=order.*", "?type=order.created&created_after=2026-01-01T00:00:00Z"])(
    "misses nothing when it is polled down to the last received event: %s",
    async (query) => {
      const [late, early] = writers as [Writer, Writer, ...Writer[]];
      const received: string[] = [];
      const poll = async () => {
        const ids = await list(query);
        const known = received[0] === undefined ? -1 : ids.indexOf(received[0]);
        received.unshift(...(known === -1 ? ids : ids.slice(0, known)));
      };
      const committed: string[] = [];
      await late.begin();
      await late.write();
      await early.begin();
      committed.push((await early.commit())!);
      await poll();
      committed.push((await late.commit())!);
      await poll();
      expect(received.toSorted()).toEqual(committed.toSorted());
      expect(await list(query)).toEqual(received);
    },
  );

  it("has the order in which listeners receive the events, page by page and between two times", async () => {
    const events: string[] = [];
    const [first, second] = writers as [Writer, Writer, ...Writer[]];
    // The event with the higher ID always gets the lower number.
    for (let pair = 0; pair < 3; pair++) {
      await first.begin();
      await second.begin();
      for (const writer of [second, first]) events.unshift((await writer.commit())!);
    }
    const follower = new Follower("listener");
    await follower.start("-3600");
    await expect.poll(() => [...follower.take().received].toReversed()).toEqual(events);
    await follower.cut();
    const paged: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body } = await api("GET", `/v1/events?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`);
      paged.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    expect(paged).toEqual(events);
    const time = (offset: number) => new Date(timeOfId(events[0]!) + offset).toISOString().slice(0, 19) + "Z";
    expect(await list(`?created_after=${time(-60_000)}&created_before=${time(60_000)}`)).toEqual(events);
    expect(await list(`?created_after=${time(2_000)}`)).toEqual([]);
    expect(await list(`?created_before=${time(-60_000)}`)).toEqual([]);
  });
});

describe("service listen", () => {
  it("reports missing events when the database loses some, even with --quiet", async () => {
    const [writer] = writers as [Writer, ...Writer[]];
    const commit = async () => {
      await writer.begin();
      const id = (await writer.commit())!;
      await notify();
      return id;
    };
    const tails = [startTail(["listen"], node.env), startTail(["listen", "--quiet"], node.env)] as const;
    for (const tail of tails) await tail.begun(commit);
    const last = await commit();
    const sees = (id: string) => tails.every(({ lines }) => lines.some((line) => line.includes(id)));
    await tails[0].until(() => sees(last));
    await writer.connection.query("DELETE FROM events WHERE id = $1", [last]);
    const next = await commit();
    await tails[0].until(() => sees(next));
    const gap = new RegExp(
      `events after ${last} may be missing: the platform no longer stores them; continuing with evt_`,
    );
    for (const { stderr } of tails) await expect.poll(stderr).toMatch(gap);
  });
});

describe("a transaction left open in another database of the server", () => {
  it("holds events back, and its age is a metric and a warning", async () => {
    const database = await server.createDatabase();
    let passed = 0;
    const platform = await hostPlatform({
      database,
      masterKey: "5a".repeat(32),
      clock: { ...systemClock, elapsed: () => systemClock.elapsed() + passed },
    });
    const metric = async () => {
      const text = await (await fetch(`${platform.baseUrl}/metrics`)).text();
      return Number(/^service_postgres_oldest_write_transaction_seconds (\S+)$/m.exec(text)?.[1]);
    };
    const follower = await listenTo(platform.baseUrl, platform.sandboxKey);
    const other = new Client({ connectionString: server.url, application_name: "nightly-job" });
    await other.connect();
    await other.query("BEGIN");
    await other.query("SELECT pg_current_xact_id()");
    const { status } = await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    expect(status).toBe(201);
    expect(await metric()).toBeGreaterThan(0);
    expect(platform.complaints).toEqual([]);
    passed = 60_000;
    expect(await metric()).toBeGreaterThanOrEqual(60);
    expect(platform.complaints).toEqual([expect.stringContaining("holds events back")]);
    await metric();
    expect(platform.complaints).toHaveLength(1);
    expect(follower.events).toEqual([]);
    await other.query("COMMIT");
    await other.end();
    await follower.until(1);
    await expect.poll(metric).toBeLessThan(15);
    await follower.close();
    await platform.close();
  });
});
