import { LIMITS } from "../../contract/limits.ts";
import { nearestPaths } from "../../contract/nearest.ts";
import { OPERATIONS } from "../../contract/operations.ts";
import type { Fault, FaultCreate, FaultList } from "../../contract/schemas/fault.ts";
import type { FieldError } from "../../contract/schemas/problem.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { With } from "../tools.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import {
  countInjection,
  deleteFault,
  deleteFaults,
  type FaultRow,
  faultRows,
  insertFault,
  listFaults,
} from "../storage/faults.ts";
import { ApiError, invalidFields, readsOf } from "./api-error.ts";
import type { RequestContext, Tenant } from "./request-context.ts";

/** Operations that requests with faults can still use to remove them, and those of the dashboard's sessions. */
const FAULTABLE = OPERATIONS.filter(
  ({ path, session }) => session === undefined && !/^\/v1\/(faults|sandbox)(\/|$)/.test(path),
);

/** Adds a fault to the sandbox. Throws ApiError for a fault that could not apply to any request. */
export async function createFault(context: RequestContext, input: FaultCreate): Promise<Fault> {
  const errors = [...problemsOfMatch(input.match), ...problemsOfEffect(input)];
  if (errors.length > 0) throw invalidFields(errors);
  const row: FaultRow = {
    environment: context.tenant.environment,
    id: context.newId("fault"),
    method: input.match.method ?? null,
    path: input.match.path,
    effect: input.effect,
    status: input.status ?? null,
    delay_ms: input.delay_ms ?? null,
    rate: input.rate ?? 1,
    times: input.times ?? null,
    injected: 0,
    created: context.now,
  };
  if (await insertFault(context.tx, row, LIMITS.maxFaults)) return toFault(row);
  throw new ApiError("fault_limit", `The sandbox has ${LIMITS.maxFaults} faults, which is the maximum. Remove some.`);
}

function problemsOfMatch({ method, path }: FaultCreate["match"]): FieldError[] {
  const matching = FAULTABLE.filter((operation) => isMatch(path, likeIn(path, operation.path)));
  if (matching.length === 0) {
    const [guess] = nearestPaths(
      path,
      FAULTABLE.map((operation) => operation.path),
    );
    const help = guess === undefined ? "a * stands for any text, as in /v1/orders*" : `did you mean ${guess}?`;
    return [
      { pointer: "/match/path", code: "no_operation", detail: `matches no operation that can get a fault; ${help}` },
    ];
  }
  if (method == null || matching.some((operation) => operation.method === method)) return [];
  const methods = [...new Set(matching.map((operation) => operation.method))].join(", ");
  return [{ pointer: "/match/method", code: "no_operation", detail: `is not a method of this path: ${methods}` }];
}

function problemsOfEffect({ effect, status, delay_ms: delay }: FaultCreate): FieldError[] {
  return (
    [
      ["status", "status", status],
      ["delay", "delay_ms", delay],
    ] as const
  ).flatMap(([name, member, value]) => {
    const isGiven = value !== undefined && value !== null;
    if (isGiven === (effect === name)) return [];
    const pointer = `/${member}`;
    return isGiven
      ? [{ pointer, code: "not_allowed", detail: `belongs to the effect ${name}` }]
      : [{ pointer, code: "required", detail: `is required for the effect ${name}` }];
  });
}

/** Returns an operation's path with those IDs that a pattern names in full. */
function likeIn(pattern: string, path: string): string {
  const given = pattern.split("/");
  const own = path.split("/").map((part, index) => {
    const named = given[index]?.replace(/\*$/, "") ?? "";
    return part === "{id}" && named !== "" ? named : part;
  });
  return own.join("/");
}

/** Returns true if a pattern stands for a path. Linear, because clients choose both. */
function isMatch(pattern: string, path: string): boolean {
  const isOpen = pattern.endsWith("*");
  const parts = (isOpen ? pattern.slice(0, -1) : pattern).split("/");
  const given = path.split("/");
  if (isOpen ? given.length < parts.length : given.length !== parts.length) return false;
  return parts.every((part, index) => {
    const segment = given[index]!;
    if (part === "{id}") return segment !== "";
    return isOpen && index === parts.length - 1 ? segment.startsWith(part) : segment === part;
  });
}

/**
 * Returns the first fault that matches a request, and counts it. Even with several processes, no fault applies more
 * often than its limit.
 */
export async function faultFor(
  { database, random }: With<"database" | "random">,
  { environment }: Tenant,
  request: { method: string; path: string },
): Promise<FaultRow | undefined> {
  for (const fault of await listFaults(database, environment)) {
    const isUsedUp = fault.times !== null && fault.injected >= fault.times;
    if (isUsedUp || (fault.method ?? request.method) !== request.method) continue;
    if (!isMatch(fault.path, request.path) || random.fraction() >= fault.rate) continue;
    const isCounted = await database.write((tx) => countInjection(tx, fault), { isolation: "read committed" });
    if (isCounted) return fault;
  }
  return undefined;
}

/** Returns true if faults can apply to requests to an operation. */
export function canGetFaults({ name }: { name: string }): boolean {
  return FAULTABLE.some((operation) => operation.name === name);
}

export async function allFaults(queries: Queries, { environment }: Tenant): Promise<FaultList> {
  return { object: "list", data: (await listFaults(queries, environment)).map(toFault) };
}

export const faults = readsOf("fault", faultRows, toFault);

export async function removeFault(tx: Transaction, tenant: Tenant, id: string) {
  await faults.row(tx, tenant, id);
  await deleteFault(tx, tenant.environment, id);
  return { id, object: "fault" as const, deleted: true as const };
}

export async function removeFaults(tx: Transaction, tenant: Tenant): Promise<FaultList> {
  const removed = await allFaults(tx, tenant);
  await deleteFaults(tx, tenant.environment);
  return removed;
}

function toFault(row: FaultRow): Fault {
  const { environment: _, id, method, path, created, ...effect } = row;
  const match = { method: method as Fault["match"]["method"], path };
  return { id, object: "fault", match, ...effect, livemode: false, created: formatTimestamp(created) };
}
