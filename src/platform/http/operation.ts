import type { Static, TSchema } from "typebox";
import type { ErrorCode } from "../../contract/errors.ts";
import type { Scope } from "../../contract/scopes.ts";
import type { RequestContext, Caller } from "../domain/request-context.ts";
import type { Queries, Transaction } from "../storage/database.ts";

/** A request as its handler gets it: authenticated, validated and typed. */
export interface Call<Body, Query> {
  caller: Caller;
  /** The ID in the path, if the path has one. */
  id: string;
  query: Query;
  body: Body;
}

/** A response body: an object, or JSON text that is sent unchanged. */
export type ResponseBody = object | RawJson;

export class RawJson {
  readonly text: string;
  /** The cursor of the next page, if this is a page of a list that has one. */
  readonly nextCursor: string | undefined;
  constructor(text: string, nextCursor?: string) {
    this.text = text;
    this.nextCursor = nextCursor;
  }
}

interface Description<Body extends TSchema, Query extends TSchema> {
  /** Unique name, as in the OpenAPI document. */
  name: string;
  summary: string;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `/v1/customers/{id}` */
  path: string;
  /** The scope that the credential needs; null accepts any valid credential. */
  scope: Scope | null;
  /** Minimum role of the user, if only a signed-in user may call it, with neither key nor token. */
  session?: "member" | "owner";
  /** True if the operation exists in the sandbox only. */
  sandboxOnly?: boolean;
  /**
   * True if the operation only inserts rows, independent of concurrent inserts: then it shares its commit with others.
   */
  additive?: boolean;
  /** `read committed` if the operation changes rows that the platform updates frequently: see WriteOptions. */
  isolation?: "read committed";
  body?: Body;
  query?: Query;
  /** Error codes of this operation, in addition to those that all operations share. */
  errors?: readonly ErrorCode[];
  /** Status and schema of the successful response. */
  response: { status: 200 | 201; schema: TSchema };
  /** The meaning of a 202, if the response may come before the work is done. */
  accepted?: string;
}

/** Work that takes longer than a transaction: begun in one, under the request's key, and followed after its commit. */
interface LongWork<Body, Query> {
  /**
   * Starts the work, which continues in the background. `reference` names it; `createdAt` is when its Idempotency-Key
   * begins to age, in the environment's time.
   */
  begin: (call: Call<Body, Query>, tx: Transaction) => Promise<{ reference: number; createdAt: number }>;
  /** Returns the state of the work. Called again for each repeated request. */
  follow: (call: Call<Body, Query>, reference: number) => Promise<{ isDone: boolean; body: ResponseBody }>;
}

/** One operation of the API as data: routes, validation and documentation are derived from it. */
export interface Operation extends Description<TSchema, TSchema> {
  read?: (call: Call<unknown, unknown>, queries: Queries) => Promise<ResponseBody>;
  write?: (call: Call<unknown, unknown>, tx: Transaction, context: RequestContext) => Promise<ResponseBody>;
  long?: LongWork<unknown, unknown>;
}

/** Defines an operation that only reads. */
export function readOperation<Body extends TSchema, Query extends TSchema>(
  operation: Description<Body, Query> & {
    read: (call: Call<Static<Body>, Static<Query>>, queries: Queries) => Promise<ResponseBody>;
  },
): Operation {
  return operation as unknown as Operation;
}

/** Defines an operation that makes a change. Its handler runs in one transaction. */
export function writeOperation<Body extends TSchema, Query extends TSchema>(
  operation: Description<Body, Query> & {
    write: (call: Call<Static<Body>, Static<Query>>, tx: Transaction, context: RequestContext) => Promise<ResponseBody>;
  },
): Operation {
  return operation as unknown as Operation;
}

/** Defines an operation whose work continues after its transaction. */
export function longOperation<Body extends TSchema, Query extends TSchema>({
  begin,
  follow,
  ...description
}: Description<Body, Query> & LongWork<Static<Body>, Static<Query>>): Operation {
  return { ...description, isolation: "read committed", long: { begin, follow } } as unknown as Operation;
}
