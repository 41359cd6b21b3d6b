import type { Static, TSchema } from "typebox";
import type { ErrorCode } from "../../contract/errors.ts";
import type { Scope } from "../../contract/scopes.ts";
import type { RequestContext, Caller } from "../domain/request-context.ts";
import type { Queries, Transaction } from "../storage/database.ts";

/** What a handler is given of the request: proven, checked and typed. */
export interface Call<Body, Query> {
  caller: Caller;
  /** The id in the path, where the path has one. */
  id: string;
  query: Query;
  body: Body;
}

/** A reply's body: an object, or JSON that is sent as it stands. */
export type ReplyBody = object | RawJson;

export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

interface Description<Body extends TSchema, Query extends TSchema> {
  /** Unique name, as in the OpenAPI document. */
  name: string;
  summary: string;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `/v1/customers/{id}` */
  path: string;
  /** What the credential must be allowed to do; null: any valid credential. */
  scope: Scope | null;
  /** Set where only a person who is signed in may do it, of this role at least: keys and tokens may not. */
  session?: "member" | "owner";
  /** True where the operation exists in the sandbox only. */
  sandboxOnly?: boolean;
  /** True where the operation only adds rows, whatever others add meanwhile: then it shares its commit with theirs. */
  additive?: boolean;
  /** `read committed` where the operation changes rows that the platform changes all the time: see WriteOptions. */
  isolation?: "read committed";
  body?: Body;
  query?: Query;
  /** Error codes of its own, besides those that every operation shares. */
  errors?: readonly ErrorCode[];
  /** Status and schema of the successful reply. */
  reply: { status: 200 | 201; schema: TSchema };
  /** What a 202 means, where the reply may come before the work is done. */
  accepted?: string;
}

/** Work that is longer than a transaction: begun in one, under the request's key, and followed after its commit. */
interface LongWork<Body, Query> {
  /**
   * Starts the work, which goes on by itself. `reference` names it; `createdAt` is when its Idempotency-Key begins to
   * age, in the environment's time.
   */
  begin: (call: Call<Body, Query>, tx: Transaction) => Promise<{ reference: number; createdAt: number }>;
  /** Returns what became of the work so far. Called again for each repeated request. */
  follow: (call: Call<Body, Query>, reference: number) => Promise<{ isDone: boolean; body: ReplyBody }>;
}

/** One operation of the API as data: routes, checks and documentation are made from it. */
export interface Operation extends Description<TSchema, TSchema> {
  read?: (call: Call<unknown, unknown>, queries: Queries) => Promise<ReplyBody>;
  write?: (call: Call<unknown, unknown>, tx: Transaction, context: RequestContext) => Promise<ReplyBody>;
  long?: LongWork<unknown, unknown>;
}

/** An operation that only reads. */
export function readOperation<Body extends TSchema, Query extends TSchema>(
  operation: Description<Body, Query> & {
    read: (call: Call<Static<Body>, Static<Query>>, queries: Queries) => Promise<ReplyBody>;
  },
): Operation {
  return operation as unknown as Operation;
}

/** An operation that changes something: its handler runs in one transaction. */
export function writeOperation<Body extends TSchema, Query extends TSchema>(
  operation: Description<Body, Query> & {
    write: (call: Call<Static<Body>, Static<Query>>, tx: Transaction, context: RequestContext) => Promise<ReplyBody>;
  },
): Operation {
  return operation as unknown as Operation;
}

/** An operation whose work goes on after its transaction. */
export function longOperation<Body extends TSchema, Query extends TSchema>({
  begin,
  follow,
  ...description
}: Description<Body, Query> & LongWork<Static<Body>, Static<Query>>): Operation {
  return { ...description, isolation: "read committed", long: { begin, follow } } as unknown as Operation;
}
