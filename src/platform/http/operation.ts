import type { Static, TSchema } from "typebox";
import type { ErrorCode } from "../../contract/errors.ts";
import type { Scope } from "../../contract/scopes.ts";
import type { Occasion } from "../domain/occasion.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import type { Caller } from "./caller.ts";

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
  body?: Body;
  query?: Query;
  /** Error codes of its own, besides those that every operation shares. */
  refusals?: readonly ErrorCode[];
  /** Status and schema of the successful reply. */
  reply: { status: 200 | 201; schema: TSchema };
}

/** One operation of the API as data: routes, checks and documentation are made from it. */
export interface Operation extends Description<TSchema, TSchema> {
  read?: (call: Call<unknown, unknown>, queries: Queries) => Promise<ReplyBody>;
  write?: (call: Call<unknown, unknown>, tx: Transaction, occasion: Occasion) => Promise<ReplyBody>;
  run?: (call: Call<unknown, unknown>) => Promise<ReplyBody>;
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
    write: (call: Call<Static<Body>, Static<Query>>, tx: Transaction, occasion: Occasion) => Promise<ReplyBody>;
  },
): Operation {
  return operation as unknown as Operation;
}

/** An operation that takes its time, in transactions of its own. A crash in the middle keeps no reply for its key. */
export function longOperation<Body extends TSchema, Query extends TSchema>(
  operation: Description<Body, Query> & {
    run: (call: Call<Static<Body>, Static<Query>>) => Promise<ReplyBody>;
  },
): Operation {
  return operation as unknown as Operation;
}
