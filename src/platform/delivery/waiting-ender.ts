import { Periodic } from "../periodic.ts";
import type { Services } from "../services.ts";
import type { WriteOptions } from "../storage/database.ts";
import { allEnvironments } from "../storage/environments.ts";
import { claimEnded, LEASE_MILLISECONDS } from "./claim.ts";
import { recordFinished, reportFinished } from "./record.ts";

const EVERY_MILLISECONDS = 60_000;
const MOST = 250;
const LATEST: WriteOptions = { isolation: "latest" };

/** Ends deliveries that waited for a disabled endpoint until their days of retries were over: now and then is enough. */
export function createWaitingEnder(services: Services): Periodic {
  const { database, clock, report, random } = services;
  const token = Buffer.from(random.bytes(12)).toString("base64url");
  return new Periodic(services, EVERY_MILLISECONDS, async (signal) => {
    for (const { id, clock_offset: offset } of await allEnvironments(database)) {
      for (let ended = MOST; ended === MOST && !signal.aborted;) {
        const now = clock.now();
        const finished = await database.write(async (tx) => {
          const found = await claimEnded(tx, { token, until: now + LEASE_MILLISECONDS }, id, now + offset, MOST);
          await recordFinished(tx, found);
          return found;
        }, LATEST);
        reportFinished(report, finished, []);
        ended = finished.length;
      }
    }
  });
}
