import type { FastifyRequest } from "fastify";
import { LIMITS } from "../../contract/limits.ts";
import { ApiError, unavailable } from "../domain/api-error.ts";
import type { RequestContext } from "../domain/request-context.ts";
import type { Versions } from "../domain/versions.ts";
import { declaredFields } from "../http/declared-fields.ts";
import {
  type Effect,
  findResponse,
  fingerprintOf,
  type InFlight,
  onceForKey,
  type StoredResponse,
} from "./idempotency.ts";
import { type Call, RawJson, type ResponseBody } from "../http/call.ts";
import { parseIdempotencyKey } from "../http/headers.ts";
import { secretFieldsOf } from "../http/request-log.ts";
import { parseTraceparent } from "../observability/trace-context.ts";
import type { With } from "../tools.ts";
import { digestIdempotencyKey, type Vault } from "../security/vault.ts";
import { findEnvironmentNumber } from "../storage/accounts.ts";
import { type Database, type Queries, StorageUnavailableError, type Transaction } from "../storage/database.ts";
import type { EnvironmentNow } from "../time/environment-time.ts";
import type { Static, TSchema } from "typebox";
import type { Entries, Operation } from "../../contract/operations.ts";

export type RunTools = With<"database" | "vault" | "time" | "clockTrust" | "versions">;

/** A validated request for a change. */
interface Run {
  tools: RunTools;
  inFlight: InFlight;
  operation: Route;
  call: Call;
  request: FastifyRequest;
  /** The version of the response. */
  version: string;
}

/** Runs an operation in one transaction, and stores its response under the Idempotency-Key. */
export function runWrite(run: Run): Promise<StoredResponse> {
  const { tools, operation, call, request, version } = run;
  const { versions } = tools;
  const { tenant } = call.caller;
  let { write } = operation;
  const prepare = operation.prepare && (async () => void (write = await operation.prepare!(call, tools.database)));
  const unit = async (tx: Transaction, at: EnvironmentNow) => {
    const trace = parseTraceparent(request.headers["traceparent"]);
    const context: RequestContext = { tx, tenant, requestId: request.id, trace, versions, ...at };
    const json = toJson(versions, version, operation, await write!(call, context)).toString();
    const { status, startsAgain } = operation;
    if (startsAgain !== true) return { status, json };
    return { status, json, environment: await findEnvironmentNumber(tx, tenant.account.id, tenant.name) };
  };
  return writeOnce(run, unit, prepare);
}

const ACCEPTED = 202;

/**
 * Starts work that continues after its transaction, and returns its state. The record of the Idempotency-Key
 * refers to the work from the start, so a repeated request gets the state of the same work.
 */
export async function runLong(run: Run): Promise<StoredResponse> {
  const { tools, operation, call, version } = run;
  const { begin, follow } = operation.long!;
  const { json: reference, replayed } = await writeOnce(run, async (tx) => {
    const work = await begin(call, tx);
    return { status: ACCEPTED, json: String(work.reference), createdAt: work.createdAt };
  });
  const { isDone, body } = await follow(call, Number(reference)).catch((error: unknown) => {
    throw error instanceof StorageUnavailableError ? unavailable(BEGUN, error) : error;
  });
  return {
    status: isDone ? operation.status : ACCEPTED,
    json: toJson(tools.versions, version, operation, body).toString(),
    replayed,
  };
}

const BEGUN =
  "The request was accepted and its work has begun, but its progress cannot be read from the database now. " +
  "Repeat the request with the same Idempotency-Key to get the progress.";

/**
 * Runs a unit of work in a transaction, at most once for the request's Idempotency-Key, if it has one. `prepare` runs
 * before it, unless there is a response for the key.
 */
async function writeOnce(
  { tools, inFlight, operation, call, request, version }: Run,
  unit: (tx: Transaction, at: EnvironmentNow) => Promise<Effect>,
  prepare?: () => Promise<void>,
): Promise<StoredResponse> {
  const { database, vault, time, clockTrust } = tools;
  const { tenant, principal } = call.caller;
  const { isolation } = operation;
  const target = idempotencyTarget(vault, operation, call, request);
  if (target === undefined) {
    await prepare?.();
    const once = async (tx: Transaction) => {
      const { status, json } = await unit(tx, await time.read(tx, tenant));
      return { status, json, replayed: false };
    };
    return database.write(call.deadline.limit(once), { isolation });
  }
  // A response that shows a secret is only repeated to the same principal.
  const hasSecret = secretFieldsOf(operation.response).length > 0;
  const fingerprint = fingerprintOf(version, call.body, hasSecret ? principal : undefined);
  const keyed = { target, fingerprint, hasSecret, mayExpire: () => clockTrust.isTrusted(), isolation };
  const once = async (tx: Transaction) => {
    const at = await time.read(tx, tenant);
    return onceForKey(tx, vault, { ...keyed, now: at.now }, () => unit(tx, at));
  };
  return inFlight.run(target, async () => {
    if (prepare !== undefined) {
      const { now } = await time.read(database, tenant);
      const stored = await findResponse(database, vault, { ...keyed, now });
      if (stored !== undefined) return stored;
      await prepare();
    }
    return database.write(call.deadline.limit(once), { isolation });
  });
}

/** Returns the storage key of a POST's Idempotency-Key, without the key itself; undefined if it has none. Throws ApiError. */
function idempotencyTarget(vault: Vault, { method }: Route, { caller }: Call, { headers, url }: FastifyRequest) {
  const header = headers["idempotency-key"];
  if (method !== "POST" || typeof header !== "string") return undefined;
  const sent = parseIdempotencyKey(header);
  if (sent === undefined) {
    const detail = `Idempotency-Key must have 1 to ${LIMITS.idempotencyKeyLength} visible ASCII characters, without spaces.`;
    throw new ApiError("invalid_idempotency_key", detail);
  }
  const key = digestIdempotencyKey(vault, sent);
  return { environment: caller.tenant.environment, method, path: url.split("?", 1)[0]!, key };
}

/** Returns the response with the fields that the operation declares, in a version's shape. */
export function toJson(versions: Versions, version: string, { response }: Route, body: ResponseBody): string | Buffer {
  if (!(body instanceof RawJson)) return JSON.stringify(versions.response(version, declaredFields(response)(body)));
  if (version === versions.latest) return body.json;
  const parsed = JSON.parse(body.json.toString()) as object;
  const shaped = versions.response(version, parsed);
  // An unchanged body keeps its bytes.
  return shaped === parsed ? body.json : JSON.stringify(shaped);
}

type Read<One> = (call: One, queries: Queries) => Promise<ResponseBody>;

/** Makes a change in one transaction. */
export type Write<One> = (call: One, context: RequestContext) => Promise<ResponseBody>;

/** A change that is not serialized with all others. */
interface IsolatedWrite<One> {
  /**
   * `batched` if it only inserts rows, independent of concurrent inserts: then it shares its commit with others. `read
   * committed` if it changes rows that the platform updates frequently: see WriteOptions.
   */
  isolation: "batched" | "read committed";
  /** True if it gives the sandbox another number, under which the response is stored for the Idempotency-Key. */
  startsAgain?: true;
  write: Write<One>;
}

/** A change with more rows than one transaction should add: they are added before, where no request sees them. */
interface PreparedWrite<One> extends Omit<IsolatedWrite<One>, "isolation" | "write"> {
  isolation: "serialized" | "read committed";
  /** Adds the rows. Returns what makes the change. */
  prepare: (call: One, database: Database) => Promise<Write<One>>;
}

/** Work that takes longer than a transaction: begun in one, under the request's key, and followed after its commit. */
interface LongWork<One> {
  /**
   * Starts the work, which continues in the background. `reference` names it; `createdAt` is when its Idempotency-Key
   * begins to age, in the environment's time.
   */
  begin: (call: One, tx: Transaction) => Promise<{ reference: number; createdAt: number }>;
  /** Returns the state of the work. Called again for each repeated request. */
  follow: (call: One, reference: number) => Promise<{ isDone: boolean; body: ResponseBody }>;
}

export type AnyHandler = Read<Call> | Write<Call> | IsolatedWrite<Call> | PreparedWrite<Call> | LongWork<Call>;

type Entry = Entries[keyof Entries];
type ValueOf<Schema> = Schema extends TSchema ? Static<Schema> : unknown;
type CallOf<One extends Entry> = Call<
  ValueOf<One extends { body: infer Body } ? Body : unknown>,
  ValueOf<One extends { query: infer Query } ? Query : unknown>
>;
type HandlerOf<One extends Entry> = One extends { accepted: string }
  ? LongWork<CallOf<One>>
  : One["route"] extends `GET ${string}`
    ? Read<CallOf<One>>
    : Write<CallOf<One>> | IsolatedWrite<CallOf<One>> | PreparedWrite<CallOf<One>>;

/** A handler for each operation that is described by an entry of its own. */
export type Handlers = { [Name in keyof Entries]: HandlerOf<Entries[Name]> };

/** An operation with its handler, which has one of four forms. */
export interface Route extends Operation {
  read?: Read<Call>;
  write?: Write<Call>;
  prepare?: PreparedWrite<Call>["prepare"];
  long?: LongWork<Call>;
  isolation: "serialized" | IsolatedWrite<Call>["isolation"];
  startsAgain?: true;
}

export function routeOf(operation: Operation, handler: AnyHandler): Route {
  if (typeof handler !== "function") {
    return "begin" in handler
      ? { ...operation, long: handler, isolation: "read committed" }
      : { ...operation, ...handler };
  }
  const kind = operation.method === "GET" ? "read" : "write";
  return { ...operation, [kind]: handler, isolation: "serialized" };
}
