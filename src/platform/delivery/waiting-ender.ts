import { LIMITS } from "../../contract/limits.ts";
import { Periodic } from "../periodic.ts";
import type { Services } from "../services.ts";
import type { WriteOptions } from "../storage/database.ts";
import { endpointsDueAfter, hastenDeliveries } from "../storage/delivery-queue.ts";
import { allEnvironments } from "../storage/environments.ts";
import { claimEnded, LEASE_MILLISECONDS } from "./claim.ts";
import { recordFinished, reportFinished } from "./record.ts";

const EVERY_MILLISECONDS = 60_000;
const MOST = 250;
const LATEST: WriteOptions = { isolation: "latest" };
/** No retry waits for longer, with some room: what is due later was scheduled by a clock that was set back since. */
const LONGEST_WAIT_MILLISECONDS = (LIMITS.retryMostSeconds + 3600) * 1000;
/** A first attempt is due at once; less than this after a step of the clock, it comes soon enough by itself. */
const STEP_MILLISECONDS = 60_000;
const ANY_ATTEMPTS = 1_000_000;

/** What the worker does not meet, because it never comes to be due: looked for now and then. */
export function createWaitingEnder(services: Services): Periodic {
  const { clock } = services;
  /** The wall clock less the uptime, at the last look; a process that has just started does not know it. */
  let last = Infinity;
  return new Periodic(services, EVERY_MILLISECONDS, async (signal) => {
    await hasten(services, signal, LONGEST_WAIT_MILLISECONDS, ANY_ATTEMPTS);
    const difference = clock.now() - clock.uptime();
    if (difference < last - STEP_MILLISECONDS) await hasten(services, signal, STEP_MILLISECONDS, 0);
    last = difference;
    await endWaiting(services, signal);
  });
}

/** Ends deliveries that waited for a disabled endpoint until their days of retries were over. */
async function endWaiting(services: Services, signal: AbortSignal): Promise<void> {
  const { database, clock, clockTrust, report, random } = services;
  const token = Buffer.from(random.bytes(12)).toString("base64url");
  for (const { id, clock_offset: offset } of await allEnvironments(database)) {
    for (let ended = MOST; ended === MOST && !signal.aborted;) {
      const now = clock.now();
      if (!clockTrust.isTrusted()) return;
      const finished = await database.write(async (tx) => {
        const found = await claimEnded(tx, { token, until: now + LEASE_MILLISECONDS }, id, now + offset, MOST);
        await recordFinished(tx, found);
        return found;
      }, LATEST);
      reportFinished(report, finished, []);
      ended = finished.length;
    }
  }
}

/** Makes deliveries due that were scheduled while the clock was ahead, by more than this time. */
async function hasten(
  { database, clock, log }: Services,
  signal: AbortSignal,
  milliseconds: number,
  mostAttempts: number,
): Promise<void> {
  const now = clock.now();
  const latest = now + milliseconds;
  for (const { endpoint_id: endpointId, clock_offset: offset } of await endpointsDueAfter(database, latest)) {
    let hastened = 0;
    for (let count = MOST; count === MOST && !signal.aborted; hastened += count) {
      count = await database.write(async (tx) => {
        tx.wake("deliveries");
        const times = { after: latest + offset, dueAt: now + offset };
        return hastenDeliveries(tx, { endpointId, ...times, mostAttempts, limit: MOST });
      }, LATEST);
    }
    if (hastened === 0) continue;
    log.warn(
      { endpoint: endpointId, deliveries: hastened },
      "deliveries were due too late after the clock was set back",
    );
  }
}
