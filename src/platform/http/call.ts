import type { Operation } from "../../contract/operations.ts";
import type { Caller } from "../domain/request-context.ts";
import type { Deadline } from "./deadline.ts";

/** A request as its handler gets it: authenticated, validated and typed. */
export interface Call<Body = unknown, Query = unknown> {
  operation: Operation;
  caller: Caller;
  /** The ID in the path, if the path has one. */
  id: string;
  query: Query;
  body: Body;
  deadline: Deadline;
}

/** A response body: an object, or JSON text that is sent unchanged. */
export type ResponseBody = object | RawJson;

export class RawJson {
  /** The text, as bytes if it is long. */
  readonly json: string | Buffer;
  /** The cursor of the next page, if this is a page of a list that has one. */
  readonly nextCursor: string | undefined;
  constructor(json: string | Buffer, nextCursor?: string) {
    this.json = json;
    this.nextCursor = nextCursor;
  }
}
