import type { Static, TSchema } from "typebox";
import type { Entries, Operation } from "../../contract/operations.ts";
import type { Call, ResponseBody } from "../http/call.ts";
import type { RequestContext } from "../domain/request-context.ts";
import type { Database, Queries, Transaction } from "../storage/database.ts";

type Read<One> = (call: One, queries: Queries) => Promise<ResponseBody>;

/** Makes a change in one transaction. */
export type Write<One> = (call: One, tx: Transaction, context: RequestContext) => Promise<ResponseBody>;

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
