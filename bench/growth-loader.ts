// Fills an empty database with events, each with a delivery and an attempt, spread over 29 days, and 1,000 waiting
// deliveries to 50 endpoints. Prints how long claims, lists, statistics and retention take on it.
// Arguments: the file or URL of the database, the number of events.
import { lowestIdAt } from "../src/contract/ids.ts";
import { BackgroundWork } from "../src/platform/observability/background-work.ts";
import { createRetention } from "../src/platform/maintenance/retention.ts";
import { type Clock, systemClock } from "../src/platform/ports.ts";
import { insertAccount } from "../src/platform/storage/accounts.ts";
import { countAttempts, countEvents, countFailures, countPending } from "../src/platform/storage/counts.ts";
import { listDeliveries } from "../src/platform/storage/deliveries.ts";
import { findDue, queueHeads, setLease } from "../src/platform/storage/delivery-queue.ts";
import { endOfLog, readLog } from "../src/platform/storage/event-log.ts";
import { findEvent, listEvents } from "../src/platform/storage/events.ts";
import { openDatabase } from "../src/platform/storage/open-database.ts";
import { listRequestLogs } from "../src/platform/storage/request-logs.ts";
import { ClockTrust } from "../src/platform/time/clock-trust.ts";
import { fillEvents, SPAN } from "./fill-events.ts";

const DAY = 86_400_000;
const WAITING = 1_000;
const ROUNDS = 200;
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const [place = "", events = ""] = process.argv.slice(2);
const database = await openDatabase({ database: place, version: "bench", log: LOG, statementMilliseconds: 600_000 });
const account = { id: "acct_1", name: "Bench", version: "2026-11-01", created: 1 };
const { sandbox: environment } = await database.write((tx) => insertAccount(tx, account));
const now = Date.now();

await fillEvents(database, environment, { now, past: Number(events), waiting: WAITING });

const page = { environment, limit: 20 };
const position = await endOfLog(database, environment);
const middle = lowestIdAt("event", now - SPAN / 2);
const range = { environment, first: Math.floor(now / 60_000) - 60, last: Math.floor(now / 60_000) };
/** Ends a unit of work without changing anything. */
class Undone extends Error {}
const QUESTIONS: Record<string, () => Promise<unknown>> = {
  "heads of 50 queues": () => queueHeads(database),
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
  "events, first page": () => listEvents(database, page, { types: undefined, objectIds: undefined }),
  "events, related to one object": () => listEvents(database, page, { types: undefined, objectIds: ["ord_007"] }),
  "events, before the middle": () =>
    listEvents(database, { ...page, before: middle }, { types: undefined, objectIds: undefined }),
  "an event": () => findEvent(database, environment, position.id!),
  "deliveries, first page": () =>
    listDeliveries(database, page, { endpointId: undefined, eventIds: undefined, statuses: undefined }),
  "deliveries of an endpoint": () =>
    listDeliveries(database, page, { endpointId: "we_007", eventIds: undefined, statuses: undefined }),
  "deliveries of an event": () =>
    listDeliveries(database, page, { endpointId: undefined, eventIds: [position.id!], statuses: undefined }),
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
