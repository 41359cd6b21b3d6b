import type { Environment } from "../../contract/environments.ts";
import type { IdKind } from "../../contract/ids.ts";
import type { Versions } from "./versions.ts";

/** The environment that a call works in: nothing outside it is ever visible to the call. */
export interface Tenant {
  /** The number that every row of the environment carries. */
  environment: number;
  name: Environment;
  livemode: boolean;
  account: { id: string; name: string; version: string };
}

/** One change: where and when it happens, and the request that causes it. */
export interface RequestContext {
  tenant: Tenant;
  requestId: string;
  /** An event takes the shape of the version that the account is pinned to. */
  versions: Versions;
  /** Unix milliseconds. */
  now: number;
  /** A new id, made at `now`. */
  newId: (kind: IdKind) => string;
}
