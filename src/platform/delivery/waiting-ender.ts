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

/** What the worker does not meet, because it never comes to be due: looked for now and then. */
export function createWaitingEnder(services: Services): Periodic {
  return new Periodic(services, EVERY_MILLISECONDS, async (signal) => {
    await hastenUnreachable(services, signal);
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

/** Makes deliveries due that were scheduled while the clock was far ahead. */
async function hastenUnreachable({ database, clock, log }: Services, signal: AbortSignal): Promise<void> {
  const now = clock.now();
  const latest = now + LONGEST_WAIT_MILLISECONDS;
  for (const { endpoint_id: endpointId, clock_offset: offset } of await endpointsDueAfter(database, latest)) {
    let hastened = 0;
    for (let count = MOST; count === MOST && !signal.aborted; hastened += count) {
      count = await database.write(async (tx) => {
        tx.wake("deliveries");
        return hastenDeliveries(tx, { endpointId, after: latest + offset, dueAt: now + offset, limit: MOST });
      }, LATEST);
    }
    log.warn(
      { endpoint: endpointId, deliveries: hastened },
      "deliveries were due too late after the clock was set back",
    );
  }
}
