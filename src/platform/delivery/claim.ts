import { lowestIdAt } from "../../contract/ids.ts";
import type { Transaction } from "../storage/database.ts";
import { type Lease, leaseDue, leaseEnded, type QueuedDelivery } from "../storage/delivery-queue.ts";
import { findEnvironment } from "../storage/environments.ts";
import { disabledWithWaiting, type DeliveryTarget, findTarget } from "../storage/webhook-endpoints.ts";
import { abandon, type Finished, type Job } from "./courier.ts";
import { isWithinRetries, retriesEndedBefore } from "./schedule.ts";
import type { SecretOpener } from "./secret-opener.ts";

/** An attempt takes 10 s at most; the rest is for recording it. */
export const LEASE_MILLISECONDS = 15_000;

const ENDED = "expired: the 3 days of its retries have passed";
const DELETED = "endpoint_deleted: the endpoint was deleted";
const DAMAGED = "event_damaged: the stored event does not match its checksum";
const DISABLED = "endpoint_disabled: the endpoint was disabled for all that was left of the 3 days of its retries";

/** What claiming an endpoint's deliveries yields. */
export interface Claim {
  jobs: Job[];
  /** Deliveries that end without an attempt. */
  abandoned: Finished[];
  /** True where as many were found as were asked for: more may be due. */
  full: boolean;
  /** When the last of them was due, in real time. */
  lastDue: number;
}

export interface Claimant {
  opener: SecretOpener;
  lease: Lease;
}

/** Claims an endpoint's due deliveries in real time. Nothing where the endpoint is disabled or its clock is held. */
export async function claimDue(
  tx: Transaction,
  claimant: Claimant,
  endpoint: { environment: number; id: string },
  realNow: number,
  limit: number,
): Promise<Claim> {
  const target = await findTarget(tx, endpoint.environment, endpoint.id);
  if (target === undefined) return abandonDeleted(tx, claimant, endpoint, realNow, limit);
  if (target.status === "disabled" || target.clock_held_until > realNow) return NOTHING;
  return claimAt(tx, claimant, target, realNow, realNow + target.clock_offset, limit);
}

const NOTHING: Claim = { jobs: [], abandoned: [], full: false, lastDue: 0 };

/** Claims an endpoint's deliveries that are due at a time of its environment. */
export async function claimAt(
  tx: Transaction,
  { opener, lease }: Claimant,
  target: DeliveryTarget,
  realNow: number,
  now: number,
  limit: number,
): Promise<Claim> {
  const rows = await leaseDue(tx, { endpointId: target.id, dueAt: now, limit }, lease);
  if (rows.length === 0) return NOTHING;
  const destination = {
    endpointId: target.id,
    url: new URL(target.url),
    urlText: target.url,
    secrets: opener.secretsOf(target, now),
  };
  const lastDue = rows.at(-1)!.next_attempt - target.clock_offset;
  const claim: Claim = { jobs: [], abandoned: [], full: rows.length === limit, lastDue };
  for (const delivery of rows) {
    if (delivery.isDamaged) claim.abandoned.push(abandon(delivery, target.id, lease.token, now, DAMAGED));
    else if (hasEnded(delivery, now)) claim.abandoned.push(abandon(delivery, target.id, lease.token, now, ENDED));
    else {
      const { token } = lease;
      claim.jobs.push({ delivery, token, destination, claimedAt: realNow, clockOffset: target.clock_offset });
    }
  }
  return claim;
}

/** The platform may have been away for longer than the retries last. */
function hasEnded(delivery: QueuedDelivery, now: number): boolean {
  return delivery.first_attempt !== null && !isWithinRetries(delivery.first_attempt, now);
}

async function abandonDeleted(
  tx: Transaction,
  { lease }: Claimant,
  endpoint: { environment: number; id: string },
  realNow: number,
  limit: number,
): Promise<Claim> {
  const { clock_offset: offset } = await findEnvironment(tx, endpoint.environment);
  const request = { endpointId: endpoint.id, dueAt: Number.MAX_SAFE_INTEGER, limit };
  const rows = await leaseDue(tx, request, lease);
  const at = realNow + offset;
  const abandoned = rows.map((delivery) => abandon(delivery, endpoint.id, lease.token, at, DELETED));
  return { jobs: [], abandoned, full: rows.length === limit, lastDue: realNow };
}

/** Ends deliveries that waited for disabled endpoints until their retries were over; at most `limit` of them. */
export async function claimEnded(
  tx: Transaction,
  lease: Lease,
  environment: number,
  now: number,
  limit: number,
): Promise<Finished[]> {
  const startedBefore = retriesEndedBefore(now);
  const madeBefore = lowestIdAt("delivery", startedBefore);
  const finished: Finished[] = [];
  for (const endpoint of await disabledWithWaiting(tx, environment, madeBefore)) {
    const room = limit - finished.length;
    if (room === 0) break;
    const rows = await leaseEnded(tx, endpoint, madeBefore, startedBefore, room, lease);
    finished.push(...rows.map((delivery) => abandon(delivery, endpoint.id, lease.token, now, DISABLED)));
  }
  return finished;
}
