// Fills an empty database with events, each with a delivery and an attempt, spread over 29 days, and 1,000 waiting
// deliveries to 50 endpoints. Prints how long claims, lists, statistics and retention take on it.
// Arguments: the file or URL of the database, the number of events.
import { lowestIdAt } from "../src/contract/ids.ts";
import { countFolder } from "../src/platform/maintenance/fold-counts.ts";
import { BackgroundWork } from "../src/platform/observability/background-work.ts";
import { createRetention } from "../src/platform/maintenance/retention.ts";
import type { Clock } from "../src/platform/ports.ts";
import { insertAccount } from "../src/platform/storage/accounts.ts";
import { countAttempts, countEvents, countFailures, countPending } from "../src/platform/storage/counts.ts";
import { listDeliveries } from "../src/platform/storage/deliveries.ts";
import { resetSandbox } from "../src/platform/domain/sandbox.ts";
import { findDue, queueHeads, setLease } from "../src/platform/storage/delivery-queue.ts";
import { endOfLog, readLog } from "../src/platform/storage/event-log.ts";
import { findEvent, listEvents } from "../src/platform/storage/events.ts";
import { openDatabase } from "../src/platform/storage/open-database.ts";
import { listRequestLogs } from "../src/platform/storage/request-logs.ts";
import { systemClock } from "../src/platform/system.ts";
import { ClockTrust } from "../src/platform/time/clock-trust.ts";

const DAY = 86_400_000;
const SPAN = 29 * DAY;
/** PostgreSQL numbers up to 1,024 events of a transaction. */
const UNIT = 500;
const WAITING = 1_000;
const ENDPOINTS = 50;
const ROUNDS = 200;
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const [place = "", events = ""] = process.argv.slice(2);
const database = await openDatabase({ database: place, version: "bench", log: LOG, statementMilliseconds: 600_000 });
const account = { id: "acct_1", name: "Bench", version: "2026-11-01", created: 1 };
const { sandbox: environment } = await database.write((tx) => insertAccount(tx, account));
const now = Date.now();

const NUMBERS = `WITH RECURSIVE numbers (n) AS (
  SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST($1 AS INTEGER))`;
const numbered = (prefix: string) => `${prefix} || substr(CAST(1000000 + n AS TEXT), 2)`;
const endpoint = `'we_' || substr(CAST(1000 + n % ${ENDPOINTS} AS TEXT), 2)`;

/** Inserts events created at a time, with deliveries, and attempts unless the deliveries are pending. */
async function insertUnit(created: number, count: number, status: "succeeded" | "pending"): Promise<void> {
  const [event, delivery, request] = (["event", "delivery", "request"] as const).map((kind) =>
    lowestIdAt(kind, created).slice(0, -6),
  ) as [string, string, string];
  const attempts = status === "pending" ? 0 : 1;
  const due = status === "pending" ? created : null;
  await database.write(async (tx) => {
    await tx.run(
      `INSERT INTO events (environment, id, type, object_id, created, body)
       ${NUMBERS} SELECT ${environment}, ${numbered("$2")}, 'order.created', 'ord_' || substr(CAST(1000 + n AS TEXT), 2),
         CAST($3 AS BIGINT), $4 FROM numbers ORDER BY n`,
      [count, event, created, JSON.stringify({ data: "x".repeat(400) })],
    );
    await tx.run(
      `INSERT INTO deliveries (id, environment, event_id, event_type, endpoint_id, status, attempt_count, next_attempt, created)
       ${NUMBERS} SELECT ${numbered("$2")}, ${environment}, ${numbered("$3")}, 'order.created', ${endpoint},
         $4, CAST($5 AS INTEGER), CAST($6 AS BIGINT), CAST($7 AS BIGINT) FROM numbers ORDER BY n`,
      [count, delivery, event, status, attempts, due, created],
    );
    if (attempts === 0) return;
    await tx.run(
      `INSERT INTO attempts (delivery_id, number, at, status_code, duration_ms, request_headers, response_headers)
       ${NUMBERS} SELECT ${numbered("$2")}, 1, CAST($3 AS BIGINT), 200, 12, $4, $5 FROM numbers ORDER BY n`,
      [
        count,
        delivery,
        created,
        JSON.stringify({ header: "x".repeat(300) }),
        JSON.stringify({ header: "x".repeat(200) }),
      ],
    );
    if (created < now - 6 * DAY) return;
    await tx.run(
      `INSERT INTO request_logs (environment, id, method, path, status, duration_us)
       ${NUMBERS} SELECT ${environment}, ${numbered("$2")}, 'POST', '/v1/orders', 201, 900 FROM numbers ORDER BY n`,
      [count, request],
    );
  });
}

/** The platform does so every second. */
const fold = countFolder(database);
const foldCounts = () => fold(new AbortController().signal);

for (let first = 0; first < Number(events); first += UNIT) {
  const created = Math.floor(now - SPAN + (first / Number(events)) * (SPAN - 60_000));
  await insertUnit(created, Math.min(UNIT, Number(events) - first), "succeeded");
  await foldCounts();
}
for (let waiting = 0; waiting < WAITING; waiting += UNIT) await insertUnit(now - WAITING + waiting, UNIT, "pending");
await foldCounts();
if (database.dialect === "postgres") await database.write((tx) => tx.run("ANALYZE"));

const page = { environment, limit: 20 };
const position = await endOfLog(database, environment);
const middle = lowestIdAt("event", now - SPAN / 2);
const range = { environment, first: Math.floor(now / 60_000) - 60, last: Math.floor(now / 60_000) };
/** Ends a unit of work without changing anything. */
class Undone extends Error {}
const QUESTIONS: Record<string, () => Promise<unknown>> = {
  "heads of 50 queues": () => queueHeads(database),
  "a reset of the sandbox": () =>
    database
      .write(
        async (tx) => {
          await resetSandbox(tx, { environment, name: "sandbox", livemode: false, account }, {}, now);
          throw new Undone();
        },
        { isolation: "read committed" },
      )
      .catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error;
      }),
  "a claim of 16": () =>
    database
      .write(async (tx) => {
        const due = await findDue(tx, { environment: 1, endpointId: "we_007", dueAt: now, limit: 16 });
        if (due.length !== 16) throw new Error(`${due.length} deliveries are due.`);
        await setLease(tx, due, { token: "bench", until: now }, now);
        throw new Undone();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error;
      }),
  "the log after its middle": () =>
    readLog(
      database,
      environment,
      { seq: Math.floor(position.seq / 2), replay: 0, id: undefined },
      ["order.created"],
      64,
    ),
  "events, first page": () => listEvents(database, page, { types: undefined, objectId: undefined }),
  "events, related to one object": () => listEvents(database, page, { types: undefined, objectId: "ord_007" }),
  "events, before the middle": () =>
    listEvents(database, { ...page, before: middle }, { types: undefined, objectId: undefined }),
  "an event": () => findEvent(database, environment, position.id!),
  "deliveries, first page": () =>
    listDeliveries(database, page, { endpointId: undefined, eventIds: undefined, status: undefined }),
  "deliveries of an endpoint": () =>
    listDeliveries(database, page, { endpointId: "we_007", eventIds: undefined, status: undefined }),
  "deliveries of an event": () =>
    listDeliveries(database, page, { endpointId: undefined, eventIds: [position.id!], status: undefined }),
  "API requests, failed": () =>
    listRequestLogs(database, page, { method: undefined, path: undefined, status: "4xx", keyId: undefined }),
  "statistics of an hour": () =>
    Promise.all([
      countEvents(database, range),
      countAttempts(database, range),
      countFailures(database, range, { endpoint: undefined, limit: 10 }),
      countPending(database),
    ]),
};

/** Returns the median time in milliseconds. */
async function timeOf(question: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    await question();
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[ROUNDS / 2]!;
}

/** Processor time of this process, in milliseconds. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Removes what is older than 30 days at a time. Returns how long it took, the longest pause of the event loop, and the
 * processor time of the longest slice with its commit.
 */
async function retain(time: number): Promise<{ milliseconds: number; longest: number; slice: number }> {
  let sliceBegan = processorTime();
  let slice = 0;
  let last = performance.now();
  let longest = 0;
  const watch = setInterval(() => {
    const at = performance.now();
    longest = Math.max(longest, at - last);
    last = at;
  }, 1);
  const began = performance.now();
  await new Promise<void>((resolve) => {
    let isStarted = false;
    const clock: Clock = {
      ...systemClock,
      now: () => time,
      after(milliseconds, callback) {
        if (milliseconds < 60_000) {
          slice = Math.max(slice, processorTime() - sliceBegan);
          return systemClock.after(milliseconds, () => {
            sliceBegan = processorTime();
            callback();
          });
        }
        if (isStarted) resolve();
        else setImmediate(callback);
        isStarted = true;
        return () => {};
      },
    };
    const background = new BackgroundWork({ clock, log: LOG }, () => {});
    const clockTrust = new ClockTrust(clock, LOG, undefined);
    createRetention({ database, clock, clockTrust, log: LOG, background }).start();
  });
  clearInterval(watch);
  return { milliseconds: performance.now() - began, longest, slice };
}

const times: Record<string, number> = {};
for (const [name, question] of Object.entries(QUESTIONS)) times[name] = await timeOf(question);
// The counts of the first 28 days first, which are not what is measured.
await retain(now);
const before = (await database.get<{ count: number }>("SELECT COUNT(*) AS count FROM deliveries"))!.count;
const retention = await retain(now + 2 * DAY);
const after = (await database.get<{ count: number }>("SELECT COUNT(*) AS count FROM deliveries"))!.count;
await database.close();
process.stdout.write(`${JSON.stringify({ times, retention: { ...retention, deliveries: before - after } })}\n`);
