import { LIMITS } from "../../contract/limits.ts";
import { didYouMean, nearest } from "../../contract/nearest.ts";
import type { Sandbox, SandboxReset, Snapshot } from "../../contract/schemas/sandbox.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { With } from "../tools.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import { findEnvironment, insertEnvironment, SandboxResetError, takeTurn } from "../storage/environments.ts";
import { countObjects } from "../storage/objects.ts";
import {
  addState,
  finishCopy,
  listSnapshots,
  readState,
  removeEnvironment,
  replaceSandbox,
  type SnapshotRow,
  STATE_START,
  type StatePlace,
} from "../storage/sandboxes.ts";
import { SliceSize } from "../storage/slice-size.ts";
import { moveEndpoints } from "../storage/webhook-endpoints.ts";
import { ApiError, shorten } from "./api-error.ts";
import type { Tenant } from "./request-context.ts";

/** Requires the isolation `read committed`. Throws SandboxResetError if another request resets it at the same time. */
export async function resetSandbox(tx: Transaction, tenant: Tenant, { endpoints = "keep" }: SandboxReset, now: number) {
  const sandbox = await startAgain(tx, tenant, now, 0);
  if (endpoints === "keep") await moveEndpoints(tx, tenant.environment, sandbox, now);
  return { object: "sandbox", reset_at: formatTimestamp(now), snapshot: null, livemode: false } satisfies Sandbox;
}

/** A state that was copied, and the number under which no request can reach the copy until it is finished. */
export interface StateCopy {
  /** The environment that was copied. */
  of: number;
  copy: number;
  objects: number;
  clock_offset: number;
}

interface CopyTools extends With<"database" | "clock"> {
  /** Throws once the request's time is over. */
  assertTime: () => void;
}

/** Copies a snapshot, for `restoreSnapshot`. Throws ApiError `not_found` for an unknown name. */
export async function copySnapshot(tools: CopyTools, tenant: Tenant, name: string): Promise<StateCopy> {
  const { id, objects, clock_offset } = await findSnapshot(tools.database, tenant, name);
  // The rows of a snapshot never change.
  return { of: id, copy: await copyState(tools, tenant, tools.database, id), objects, clock_offset };
}

/**
 * Starts a sandbox again with the copy of a snapshot. As `resetSandbox`; throws SandboxResetError if the snapshot was
 * replaced since, and ApiError `not_found` if it was deleted.
 */
export async function restoreSnapshot(
  tx: Transaction,
  tenant: Tenant,
  { name, of, copy, now }: StateCopy & { name: string; now: number },
): Promise<Sandbox> {
  // Waits for a request that replaces or deletes it, and keeps others from doing so.
  await takeTurn(tx, of);
  const { id, clock_offset: offset } = await findSnapshot(tx, tenant, name);
  if (id !== of) throw new SandboxResetError();
  await startAgain(tx, tenant, now, offset, copy);
  return { object: "sandbox", reset_at: formatTimestamp(now), snapshot: name, livemode: false };
}

async function startAgain(tx: Transaction, tenant: Tenant, now: number, offset: number, copy?: number) {
  const former = await findEnvironment(tx, tenant.environment);
  const sandbox = await replaceSandbox(tx, tenant.account.id, { former, copy, at: now, offset });
  if (sandbox === undefined) throw new SandboxResetError();
  tx.notify("events");
  tx.notify("deliveries");
  tx.notify("resets");
  return sandbox;
}

/** Copies a sandbox, for `saveSnapshot`. Throws ApiError if it cannot be saved. */
export function copySandbox(tools: CopyTools, tenant: Tenant, name: string): Promise<StateCopy> {
  const { environment } = tenant;
  return tools.database.readOneState(async (state) => {
    await replaceable(state, tenant, name);
    const objects = await countObjects(state, environment, LIMITS.snapshotObjects + 1);
    if (objects > LIMITS.snapshotObjects) {
      const limit = LIMITS.snapshotObjects.toLocaleString("en");
      throw new ApiError("snapshot_limit", `The sandbox has more than ${limit} objects, too many for a snapshot.`);
    }
    const { clock_offset } = await findEnvironment(state, environment);
    return { of: environment, copy: await copyState(tools, tenant, state, environment), objects, clock_offset };
  });
}

/** Saves the copy of a sandbox under a name, in place of an earlier snapshot of that name. Throws ApiError. */
export async function saveSnapshot(
  tx: Transaction,
  tenant: Tenant,
  { name, of, copy, objects, clock_offset, now }: StateCopy & { name: string; now: number },
): Promise<Snapshot> {
  await takeTurn(tx, of);
  const earlier = await replaceable(tx, tenant, name);
  if (earlier !== undefined) await removeEnvironment(tx, earlier, now);
  const row = { name: `snapshot ${name}`, clock_offset, since: now, objects } as const;
  if (!(await finishCopy(tx, copy, row))) throw new SandboxResetError();
  return toSnapshot({ id: copy, ...row });
}

/** Returns the snapshot that has a name. Throws ApiError if none has, and there are as many as there may be. */
async function replaceable(queries: Queries, tenant: Tenant, name: string): Promise<SnapshotRow | undefined> {
  const snapshots = await listSnapshots(queries, tenant.account.id);
  const earlier = snapshots.find((one) => nameOf(one) === name);
  if (earlier !== undefined || snapshots.length < LIMITS.maxSnapshots) return earlier;
  throw new ApiError(
    "snapshot_limit",
    `The sandbox has ${LIMITS.maxSnapshots} snapshots, which is the maximum. Delete one first.`,
  );
}

/**
 * Copies the objects and endpoints of an environment, a slice at a time, so that no other request waits for all of them.
 * Returns the number of the copy. One that is not finished in time is removed by retention.
 */
async function copyState(tools: CopyTools, tenant: Tenant, source: Queries, environment: number): Promise<number> {
  const { database, clock, assertTime } = tools;
  const size = new SliceSize(database.dialect, clock);
  const unfinished = { account_id: tenant.account.id, name: "unfinished", since: clock.now() } as const;
  let copy: number | undefined;
  for (let place: StatePlace | undefined = STATE_START; place !== undefined;) {
    assertTime();
    const part = await readState(source, environment, place, size.rows);
    copy = await database.write((tx) =>
      size.measure(async () => {
        const id = copy ?? (await insertEnvironment(tx, unfinished));
        await addState(tx, id, part);
        return id;
      }),
    );
    place = part.next;
  }
  return copy!;
}

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
  throw unknownSnapshot(name, snapshots.map(nameOf));
}

export function unknownSnapshot(name: string, names: readonly string[]): ApiError {
  const guesses = nearest(name, names);
  const help =
    guesses.length > 0
      ? ` ${didYouMean(guesses)}`
      : names.length > 0
        ? ` Existing snapshots: ${names.join(", ")}.`
        : " The sandbox has no snapshots.";
  return new ApiError("not_found", `The snapshot ${JSON.stringify(shorten(name))} does not exist.${help}`);
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
