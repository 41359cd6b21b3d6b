import { lowestIdAt } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { type Pairs, sealContextOf } from "../domain/maps.ts";
import type { BackgroundWork } from "../observability/background-work.ts";
import type { Vault } from "../security/vault.ts";
import type { Transaction } from "../storage/database.ts";
import {
  findDue,
  findDueNow,
  findEnded,
  type Lease,
  type QueuedDelivery,
  setLease,
} from "../storage/delivery-queue.ts";
import { findEnvironment, isClockHeld, shareClock } from "../storage/environments.ts";
import { type DeliveryTarget, disabledWithWaiting, findTarget } from "../storage/webhook-endpoints.ts";
import type { BodyClaim } from "./event-bodies.ts";
import { isWithinRetries, retriesEndedBefore } from "./retry-schedule.ts";
import { abandon, type Finished, type Job } from "./sender.ts";

/** An attempt, and the time to record it. */
export const LEASE_MILLISECONDS = LIMITS.deliverySeconds * 1000 + 5000;

const ENDED = "expired: the 3 days of retries have passed";
const DELETED = "endpoint_deleted: the endpoint was deleted";
const DAMAGED = "event_damaged: the stored event does not match its checksum";
const SECRET_DAMAGED = "secret_damaged: the stored signing secret or headers of the endpoint cannot be decrypted";
const URL_DAMAGED = "url_damaged: the stored URL of the endpoint is not a URL";
const DISABLED = "endpoint_disabled: the endpoint stayed disabled until the 3 days of retries had passed";
const EVENT_EXPIRED = "event_expired: the event is older than 30 days and was deleted";

export interface Claim {
  jobs: Job[];
  /** Deliveries that finish without an attempt. */
  abandoned: Finished[];
  /** True if more may be due. */
  full: boolean;
  /** True if more are due whose bodies do not fit into memory yet. */
  starved: boolean;
  /** When the last of them was due, in real time. */
  lastDue: number;
}

export interface Claimant {
  opener: SecretOpener;
  lease: Lease;
  bodies: BodyClaim;
}

interface ClaimTime {
  /** The current real time. */
  now: number;
  /** The current time on the monotonic clock. */
  elapsed: number;
  /** False while the clock may be wrong: then no delivery fails because of its age. */
  mayExpire: boolean;
}

export interface ClaimLimits {
  count: number;
  /** Maximum number of attempts that begin at once; the others wait for a slot. */
  begin: number;
  /** Size of the bodies that the endpoint's other claimed deliveries hold, in bytes. */
  reservedBytes: number;
}

type EndpointKey = Pick<DeliveryTarget, "environment" | "id">;

/** Finds at most `limit` of an endpoint's deliveries that are due in real time. */
export async function findWaiting(tx: Transaction, endpoint: EndpointKey, now: () => number, limit: number) {
  const { environment, id } = endpoint;
  // Sent together. The target and the deliveries are read once no other process can hold the clock.
  const [, target, rows] = await Promise.all([
    shareClock(tx, environment),
    findTarget(tx, environment, id),
    findDueNow(tx, endpoint, now, limit),
  ]);
  return { endpoint, target, rows };
}

/** Claims deliveries that `findWaiting` returned. Claims nothing if the endpoint is disabled or its clock is held. */
export async function claimDue(
  tx: Transaction,
  claimant: Claimant,
  { endpoint, target, rows }: Awaited<ReturnType<typeof findWaiting>>,
  time: ClaimTime,
  limits: ClaimLimits,
): Promise<Claim> {
  if (target === undefined) return abandonDeleted(tx, claimant.lease, endpoint, time.now, limits.count);
  if (target.status === "disabled" || isClockHeld(target.clock_held_until, time.now)) return NOTHING;
  return claimRows(tx, claimant, target, rows, { ...time, now: time.now + target.clock_offset }, limits);
}

export const NOTHING: Claim = { jobs: [], abandoned: [], full: false, starved: false, lastDue: 0 };

/**
 * Claims an endpoint's deliveries that are due by a time of its environment. Each is attempted when it is due, but not
 * before `now`, the environment's time.
 */
export async function claimAt(
  tx: Transaction,
  claimant: Claimant,
  target: DeliveryTarget,
  { dueBy, ...time }: ClaimTime & { dueBy: number },
  limits: ClaimLimits,
): Promise<Claim> {
  const { environment, id: endpointId } = target;
  const rows = await findDue(tx, { environment, endpointId, dueAt: dueBy, limit: limits.count });
  return claimRows(tx, claimant, target, rows, time, limits);
}

async function claimRows(
  tx: Transaction,
  { opener, lease, bodies }: Claimant,
  target: DeliveryTarget,
  rows: readonly QueuedDelivery[],
  // `now` is the environment's time.
  { now, elapsed, mayExpire }: ClaimTime,
  limits: ClaimLimits,
): Promise<Claim> {
  const claim: Claim = { jobs: [], abandoned: [], full: rows.length === limits.count, starved: false, lastDue: 0 };
  const admitted: QueuedDelivery[] = [];
  const abandoned: QueuedDelivery[] = [];
  const timeOf = (delivery: QueuedDelivery) => Math.max(now, delivery.next_attempt);
  const abandonFor = (delivery: QueuedDelivery, reason: string) => {
    abandoned.push(delivery);
    claim.abandoned.push(abandon(delivery, target.id, lease.token, timeOf(delivery), reason));
  };
  let { reservedBytes } = limits;
  for (const delivery of rows) {
    if (delivery.body_bytes === null) abandonFor(delivery, EVENT_EXPIRED);
    else if (mayExpire && hasEnded(delivery, timeOf(delivery))) abandonFor(delivery, ENDED);
    else if (bodies.admit(delivery, reservedBytes)) {
      admitted.push(delivery);
      reservedBytes += delivery.body_bytes;
    } else {
      Object.assign(claim, { full: true, starved: true });
      break;
    }
    claim.lastDue = delivery.next_attempt - target.clock_offset;
  }
  // Sent together. What turns out to have no body is finished in the same transaction, whatever its lease says.
  const eventIds = admitted.map(({ event_id: id }) => id);
  const [read] = await Promise.all([
    bodies.read(tx, target.environment, eventIds),
    setLease(tx, admitted.slice(0, limits.begin), lease, now),
    setLease(tx, [...admitted.slice(limits.begin), ...abandoned], lease, null),
  ]);
  const { token } = lease;
  const url = parseUrl(target.url);
  for (const [index, delivery] of admitted.entries()) {
    const body = read.get(delivery.event_id);
    const secrets = opener.secretsOf(target, timeOf(delivery));
    const headers = opener.headersOf(target);
    if (body === undefined) abandonFor(delivery, read.has(delivery.event_id) ? DAMAGED : EVENT_EXPIRED);
    else if (url === undefined) abandonFor(delivery, URL_DAMAGED);
    else if (secrets === undefined || headers === undefined) abandonFor(delivery, SECRET_DAMAGED);
    else {
      const isMarkedBegun = index < limits.begin;
      const destination = { target, url, secrets, headers };
      const clocks = { claimedAt: elapsed, claimedTime: now, mayExpire };
      claim.jobs.push({ delivery, body, token, destination, isMarkedBegun, ...clocks });
    }
  }
  return claim;
}

/** The platform may have been down for longer than the retries last. */
function hasEnded(delivery: QueuedDelivery, now: number): boolean {
  return delivery.first_attempt !== null && !isWithinRetries(delivery.first_attempt, now);
}

async function abandonDeleted(tx: Transaction, lease: Lease, endpoint: EndpointKey, realNow: number, limit: number) {
  const { environment, id: endpointId } = endpoint;
  const { name, clock_offset: offset } = await findEnvironment(tx, environment);
  // The endpoint was not deleted: its sandbox was reset.
  if (name !== "live" && name !== "sandbox") return NOTHING;
  const rows = await findDue(tx, { environment, endpointId, dueAt: Number.MAX_SAFE_INTEGER, limit });
  await setLease(tx, rows, lease, null);
  const at = realNow + offset;
  const then = { status: "canceled" } as const;
  const abandoned = rows.map((delivery) => abandon(delivery, endpointId, lease.token, at, DELETED, then));
  return { ...NOTHING, abandoned, full: rows.length === limit, lastDue: realNow };
}

/** Finishes deliveries, at most `limit`, that waited for disabled endpoints until their retry period was over. */
export async function claimEnded(tx: Transaction, lease: Lease, environment: number, now: number, limit: number) {
  const startedBefore = retriesEndedBefore(now);
  const beforeId = lowestIdAt("delivery", startedBefore);
  const finished: Finished[] = [];
  for (const endpoint of await disabledWithWaiting(tx, environment, beforeId)) {
    const available = limit - finished.length;
    if (available === 0) break;
    const rows = await findEnded(tx, endpoint, beforeId, startedBefore, available);
    await setLease(tx, rows, lease, null);
    finished.push(...rows.map((delivery) => abandon(delivery, endpoint.id, lease.token, now, DISABLED)));
  }
  return finished;
}

const MAX_OPENED = 1000;
const NO_HEADERS: readonly string[] = [];

/** Decrypts the secrets and the headers of an endpoint. */
export class SecretOpener {
  readonly #vault: Vault;
  readonly #background: BackgroundWork;
  /** Opened secrets by their sealed bytes, which are unique to each secret, so entries never become outdated. */
  readonly #opened = new Map<string, string>();

  constructor(vault: Vault, background: BackgroundWork) {
    this.#vault = vault;
    this.#background = background;
  }

  /**
   * Returns the endpoint's secret and, during a rotation's overlap, the previous one, so far as that can be decrypted: a
   * rotation repairs a damaged secret. Returns undefined if the current one cannot. `now` is the environment's time.
   */
  secretsOf(target: DeliveryTarget, now: number): string[] | undefined {
    const secret = this.#open(target.secret, target.id, target.id);
    if (secret === undefined) return undefined;
    if (target.previous_secret === null || target.previous_until === null || target.previous_until <= now) {
      return [secret];
    }
    const previous = this.#open(target.previous_secret, target.id, target.id);
    return previous === undefined ? [secret] : [secret, previous];
  }

  /** Returns the names and values of the endpoint's headers as a flat list; undefined if they cannot be decrypted. */
  headersOf({ id, headers }: DeliveryTarget): readonly string[] | undefined {
    if (headers === null) return NO_HEADERS;
    const text = this.#open(headers, sealContextOf("headers", id), id);
    return text === undefined ? undefined : Object.entries(JSON.parse(text) as Pairs).flat();
  }

  #open(sealed: Uint8Array, context: string, endpointId: string): string | undefined {
    const key = `${context} ${Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString("latin1")}`;
    const cached = this.#opened.get(key);
    if (cached !== undefined) return cached;
    let secret: string;
    try {
      secret = this.#vault.open(sealed, context);
    } catch (error) {
      const cause = new Error(`A secret of ${endpointId} cannot be decrypted.`, { cause: error });
      this.#background.failed("delivery", { endpoint: endpointId }, cause);
      return undefined;
    }
    const oldest = this.#opened.keys().next();
    if (this.#opened.size >= MAX_OPENED && !oldest.done) this.#opened.delete(oldest.value);
    this.#opened.set(key, secret);
    return secret;
  }
}
