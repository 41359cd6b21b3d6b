import { LIMITS } from "../../contract/limits.ts";
import { nearest } from "../../contract/nearest.ts";
import type { Sandbox, SandboxReset, Snapshot } from "../../contract/schemas/sandbox.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import { findEnvironment, insertEnvironment, SandboxResetError, takeTurn } from "../storage/environments.ts";
import { copyObjects, countObjects } from "../storage/objects.ts";
import { listSnapshots, removeEnvironment, replaceSandbox, type SnapshotRow } from "../storage/sandboxes.ts";
import { copyEndpoints, moveEndpoints } from "../storage/webhook-endpoints.ts";
import { ApiError, shorten } from "./api-error.ts";
import type { Tenant } from "./request-context.ts";

/**
 * Starts a sandbox again, in real time. Requires the isolation `read committed`. Throws SandboxResetError if another
 * request resets it at the same time. `now` is real time.
 */
export async function resetSandbox(
  tx: Transaction,
  tenant: Tenant,
  { endpoints = "keep" }: SandboxReset,
  now: number,
): Promise<Sandbox> {
  const sandbox = await startAgain(tx, tenant, { now, offset: 0 });
  if (endpoints === "keep") await moveEndpoints(tx, tenant.environment, sandbox);
  return { object: "sandbox", reset_at: formatTimestamp(now), snapshot: null, livemode: false };
}

/** Starts a sandbox again from a snapshot. As `resetSandbox`; throws ApiError `not_found` for an unknown name. */
export async function restoreSnapshot(tx: Transaction, tenant: Tenant, name: string, now: number): Promise<Sandbox> {
  const snapshot = await findSnapshot(tx, tenant, name);
  // Waits for a request that replaces or deletes it, and keeps others from doing so.
  await takeTurn(tx, snapshot.id);
  const { clock_offset: offset } = await findSnapshot(tx, tenant, name);
  const sandbox = await startAgain(tx, tenant, { now, offset });
  await copyObjects(tx, snapshot.id, sandbox);
  await copyEndpoints(tx, snapshot.id, sandbox);
  return { object: "sandbox", reset_at: formatTimestamp(now), snapshot: name, livemode: false };
}

async function startAgain(tx: Transaction, tenant: Tenant, { now, offset }: { now: number; offset: number }) {
  const former = await findEnvironment(tx, tenant.environment);
  const sandbox = await replaceSandbox(tx, tenant.account.id, { former, at: now, offset });
  if (sandbox === undefined) throw new SandboxResetError();
  tx.notify("events");
  tx.notify("deliveries");
  return sandbox;
}

/** Saves a sandbox under a name, in place of an earlier snapshot of that name. Throws ApiError. */
export async function saveSnapshot(tx: Transaction, tenant: Tenant, name: string, now: number): Promise<Snapshot> {
  const snapshots = await listSnapshots(tx, tenant.account.id);
  const earlier = snapshots.find((one) => nameOf(one) === name);
  if (earlier !== undefined) await removeEnvironment(tx, earlier, now);
  else if (snapshots.length >= LIMITS.maxSnapshots) {
    throw new ApiError(
      "snapshot_limit",
      `The sandbox has ${LIMITS.maxSnapshots} snapshots, which is the maximum. Delete one first.`,
    );
  }
  const { environment, account } = tenant;
  const objects = await countObjects(tx, environment, LIMITS.snapshotObjects + 1);
  if (objects > LIMITS.snapshotObjects) {
    const limit = LIMITS.snapshotObjects.toLocaleString("en");
    throw new ApiError("snapshot_limit", `The sandbox has more than ${limit} objects, too many for a snapshot.`);
  }
  const { clock_offset: offset } = await findEnvironment(tx, environment);
  const row = { account_id: account.id, name: `snapshot ${name}`, clock_offset: offset, since: now, objects } as const;
  const id = await insertEnvironment(tx, row);
  await copyObjects(tx, environment, id);
  await copyEndpoints(tx, environment, id);
  return toSnapshot({ id, ...row });
}

/** Removes a snapshot. Throws ApiError `not_found`. */
export async function deleteSnapshot(tx: Transaction, tenant: Tenant, name: string, now: number): Promise<Snapshot> {
  const snapshot = await findSnapshot(tx, tenant, name);
  if (!(await removeEnvironment(tx, snapshot, now))) throw new SandboxResetError();
  return toSnapshot(snapshot);
}

export async function allSnapshots(queries: Queries, tenant: Tenant): Promise<Snapshot[]> {
  return (await listSnapshots(queries, tenant.account.id)).map(toSnapshot);
}

async function findSnapshot(queries: Queries, tenant: Tenant, name: string): Promise<SnapshotRow> {
  const snapshots = await listSnapshots(queries, tenant.account.id);
  const found = snapshots.find((one) => nameOf(one) === name);
  if (found !== undefined) return found;
  const guesses = nearest(name, snapshots.map(nameOf));
  const help = guesses.length === 0 ? "" : ` Did you mean ${guesses.join(", ")}?`;
  throw new ApiError("not_found", `No snapshot has the name ${JSON.stringify(shorten(name))}.${help}`);
}

function nameOf({ name }: SnapshotRow): string {
  return name.slice("snapshot ".length);
}

function toSnapshot(row: SnapshotRow): Snapshot {
  return {
    name: nameOf(row),
    object: "snapshot",
    objects: row.objects,
    offset_seconds: Math.floor(row.clock_offset / 1000),
    created: formatTimestamp(row.since),
    livemode: false,
  };
}
