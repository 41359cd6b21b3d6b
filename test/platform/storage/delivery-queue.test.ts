import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { lowestIdAt } from "../../../src/contract/ids.ts";
import { getDelivery } from "../../../src/platform/domain/deliveries.ts";
import { insertAccount } from "../../../src/platform/storage/accounts.ts";
import type { Database, Queries, SqlValue } from "../../../src/platform/storage/database.ts";
import {
  findDelivery,
  findDeliveryWithAttempts,
  insertDeliveries,
  requeueDelivery,
} from "../../../src/platform/storage/deliveries.ts";
import {
  type AttemptOutcome,
  findDue,
  findLapsed,
  hasLapsedLease,
  markStarted,
  oldestDueTime,
  recordOutcomes,
  releaseLeases,
  setLease,
} from "../../../src/platform/storage/delivery-queue.ts";
import { insertEvent } from "../../../src/platform/storage/events.ts";
import { takeOver } from "../../../src/platform/delivery/record.ts";
import { systemRandom } from "../../../src/platform/ports.ts";
import { ENGINES, openPlatformDatabase } from "./test-database.ts";

const ENDPOINT = "we_1";
const DELIVERIES = ["dlv_1", "dlv_2", "dlv_3"];
const INTERRUPTED = "interrupted: the platform stopped before the attempt finished";

describe.each(ENGINES)("the delivery queue on %s", (engine) => {
  let database: Database;
  let remove: () => Promise<void>;
  let environment: number;
  beforeAll(async () => {
    ({ database, remove } = await openPlatformDatabase(engine));
    const account = { id: "acct_1", name: "A", version: "2026-11-01", created: 1 };
    ({ sandbox: environment } = await database.write((tx) => insertAccount(tx, account)));
  });
  afterAll(() => remove());

  beforeEach(() =>
    database.write(async (tx) => {
      for (const table of ["attempts", "deliveries", "events"]) await tx.run(`DELETE FROM ${table}`);
      const event = {
        environment,
        id: "evt_1",
        type: "order.created",
        object_id: null,
        created: 1,
        body: "{}",
      } as const;
      await insertEvent(tx, event);
      await insertDeliveries(
        tx,
        DELIVERIES.map((id, index) => ({
          id,
          environment,
          event_id: event.id,
          event_type: event.type,
          endpoint_id: ENDPOINT,
          listener_id: null,
          target: null,
          status: "pending",
          attempt_count: 0,
          next_attempt: index + 1,
          created: 1,
        })),
      );
    }),
  );

  /** Leases due deliveries and returns their IDs. */
  async function lease(token: string, until: number, limit = 10, begunAt: number | null = null): Promise<string[]> {
    const rows = await database.write(async (tx) => {
      const due = await findDue(tx, { environment: 1, endpointId: ENDPOINT, dueAt: 10, limit });
      await setLease(tx, due, { token, until }, begunAt);
      return due;
    });
    return rows.map(({ id }) => id);
  }

  const takeOverLapsed = (now: number, owner: string) =>
    database.write(async (tx) =>
      takeOver(tx, await findLapsed(tx, now, owner, 10), { now, random: systemRandom, mayExpire: true }),
    );

  const record = (id: string, token: string, change: Partial<AttemptOutcome> = {}) =>
    database.write((tx) =>
      recordOutcomes(tx, [
        {
          id,
          token,
          claimed_due: DELIVERIES.indexOf(id) + 1,
          status: "succeeded",
          next_attempt: null,
          at: 5,
          status_code: 200,
          error: null,
          duration_ms: 1,
          request_headers: null,
          response_headers: null,
          response_excerpt: null,
          ...change,
        },
      ]),
    );

  const attemptsOf = async (id: string) => (await findDeliveryWithAttempts(database, environment, id))!.attempts;

  it("returns when the first waiting delivery to an enabled endpoint is due", async () => {
    const statusOf = (status: string) =>
      database.write((tx) =>
        tx.run(
          `INSERT INTO webhook_endpoints (environment, id, url, events, status, secret, secret_created, created)
           VALUES ($1, $2, 'https://example.com', '*', $3, $4, 1, 1)
           ON CONFLICT (environment, id) DO UPDATE SET status = excluded.status`,
          [environment, ENDPOINT, status, Buffer.from("secret")],
        ),
      );
    const due = (of: number, endpoint?: string) => oldestDueTime(database, of, endpoint);
    await statusOf("enabled");
    await lease("one", 100, 1);
    expect(await Promise.all([due(environment), due(environment, ENDPOINT)])).toEqual([2, 2]);
    expect(await Promise.all([due(environment, "we_2"), due(environment + 1)])).toEqual([null, null]);
    await statusOf("disabled");
    expect(await due(environment)).toBeNull();
  });

  it("reads a delivery and its attempts from one snapshot", async () => {
    const id = lowestIdAt("delivery", 1);
    await database.write((tx) => tx.run("UPDATE deliveries SET id = $1 WHERE id = 'dlv_1'", [id]));
    let statements = 0;
    /** After each statement another attempt is recorded. */
    const read = async (sql: string, parameters: SqlValue[]) => {
      const rows = await database.all(sql, parameters);
      statements += 1;
      await lease(`a.${statements}`, 100, 1);
      await record(id, `a.${statements}`, { claimed_due: 1, status: "pending", next_attempt: 1 });
      return rows;
    };
    const queries = {
      ...database,
      all: read,
      get: async (...args: Parameters<typeof read>) => (await read(...args))[0],
    };
    const account = { id: "acct_1", name: "A", version: "2026-11-01" };
    const tenant = { account, environment, name: "sandbox", livemode: false } as const;
    const shown = () => getDelivery(queries as Queries, tenant, id);
    for (const count of [0, 1]) {
      const delivery = await shown();
      expect([delivery.attempt_count, delivery.attempts]).toEqual([
        count,
        Array.from({ length: count }, () => expect.anything()),
      ]);
    }
  });

  it("leases a delivery to one holder, longest waiting first", async () => {
    expect(await lease("a.1", 100, 2)).toEqual(["dlv_1", "dlv_2"]);
    expect(await lease("b.1", 100)).toEqual(["dlv_3"]);
    expect(await lease("c.1", 100)).toEqual([]);
  });

  it("records an outcome only under the lease of its attempt", async () => {
    await lease("a.1", 100, 1);
    await takeOverLapsed(101, "b");
    expect(await lease("b.1", 200, 1)).toEqual(["dlv_1"]);
    expect(await record("dlv_1", "a.1")).toBe(0);
    expect(await attemptsOf("dlv_1")).toEqual([]);
    expect(await findDelivery(database, environment, "dlv_1")).toMatchObject({ status: "pending", attempt_count: 0 });
    expect(await record("dlv_1", "b.1", { status: "pending", next_attempt: 30, status_code: 500 })).toBe(1);
    expect(await attemptsOf("dlv_1")).toMatchObject([{ number: 1, status_code: 500 }]);
    expect(await findDelivery(database, environment, "dlv_1")).toMatchObject({ attempt_count: 1, next_attempt: 30 });
    expect(await record("dlv_1", "b.1")).toBe(0);
    expect(await attemptsOf("dlv_1")).toHaveLength(1);
  });

  it("takes over leases of other owners only after they expire, and never its own", async () => {
    await lease("a.1", 100, 1);
    await lease("b.1", 100, 1);
    await lease("c.1", 300, 1);
    expect(await hasLapsedLease(database, 100, "a")).toBe(false);
    expect(await hasLapsedLease(database, 101, "a")).toBe(true);
    await takeOverLapsed(101, "a");
    expect(await lease("a.2", 200)).toEqual(["dlv_2"]);
    expect(await hasLapsedLease(database, 101, "a")).toBe(false);
  });

  it("releases an unused lease under its own token only", async () => {
    await lease("a.1", 100, 1);
    await database.write((tx) => releaseLeases(tx, [{ id: "dlv_1", token: "b.1" }]));
    expect(await lease("c.1", 100, 1)).toEqual(["dlv_2"]);
    await database.write((tx) => releaseLeases(tx, [{ id: "dlv_1", token: "a.1" }]));
    expect(await lease("c.2", 100, 1)).toEqual(["dlv_1"]);
  });

  it("takes over a lease that expires hours ahead, from before the clock was set back", async () => {
    await lease("a.1", 100 + 4_000_000, 1);
    expect(await hasLapsedLease(database, 100, "b")).toBe(true);
    await takeOverLapsed(100, "b");
    expect(await lease("b.1", 200)).toEqual(DELIVERIES);
  });

  it("counts an unfinished attempt of a dead process, and makes the next one due immediately", async () => {
    await lease("a.1", 100, 1, 5);
    await lease("a.2", 100, 1);
    await lease("a.3", 100, 1);
    await database.write((tx) => markStarted(tx, [{ id: "dlv_3", token: "a.3", at: 6 }]));
    await takeOverLapsed(101, "b");
    expect(await attemptsOf("dlv_1")).toMatchObject([{ number: 1, at: 5, error: INTERRUPTED }]);
    expect(await attemptsOf("dlv_2")).toEqual([]);
    expect(await attemptsOf("dlv_3")).toMatchObject([{ number: 1, at: 6, error: INTERRUPTED }]);
    expect(await lease("b.1", 200)).toEqual(DELIVERIES);
  });

  it("delays a delivery whose attempts were interrupted twice in a row, unless a retry was requested", async () => {
    const interrupt = async (token: string, begunAt: number) => {
      await lease(token, 100, 10, begunAt);
      await takeOverLapsed(1000, "b");
    };
    await interrupt("a.1", 5);
    await lease("a.2", 100, 10, 6);
    const retried = (await findDelivery(database, environment, "dlv_2"))!;
    await database.write((tx) => requeueDelivery(tx, retried, 7));
    await takeOverLapsed(1000, "b");
    expect(await lease("b.1", 200)).toEqual(["dlv_2"]);
    const { next_attempt: next } = (await findDelivery(database, environment, "dlv_1"))!;
    expect(next! - 1000).toBeGreaterThanOrEqual(48_000);
    expect(next! - 1000).toBeLessThanOrEqual(72_000);
  });

  it("keeps a retry requested during an attempt, unless the attempt succeeds", async () => {
    const shown = (id: string) => findDelivery(database, environment, id);
    const retry = async (id: string, at: number) => {
      const row = (await shown(id))!;
      await database.write((tx) => requeueDelivery(tx, row, at));
    };
    await lease("a.1", 100);
    // The second retry is due exactly when the delivery was already due.
    await retry("dlv_1", 7);
    await retry("dlv_2", 2);
    await retry("dlv_3", 7);
    await record("dlv_1", "a.1", { status: "pending", next_attempt: 30_000, status_code: 500 });
    await record("dlv_2", "a.1", { status: "failed", next_attempt: null, status_code: 500 });
    await record("dlv_3", "a.1");
    expect(await shown("dlv_1")).toMatchObject({ status: "pending", next_attempt: 7, attempt_count: 1 });
    expect(await shown("dlv_2")).toMatchObject({ status: "pending", next_attempt: 1, attempt_count: 1 });
    expect(await shown("dlv_3")).toMatchObject({ status: "succeeded", next_attempt: null });
    // Retries of a failed delivery last 3 days again.
    const { first_attempt: first } = (await database.get<{ first_attempt: number | null }>(
      "SELECT first_attempt FROM deliveries WHERE id = 'dlv_2'",
    ))!;
    expect(first).toBeNull();
  });
});
