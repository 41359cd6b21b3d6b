import type { Environment } from "../../contract/environments.ts";
import type { IdKind } from "../../contract/ids.ts";
import type { Transaction } from "../storage/database.ts";
import type { Versions } from "./versions.ts";
import type { Scope } from "../../contract/scopes.ts";

/** The environment of a call, which can access nothing outside it. */
export interface Tenant {
  /** The environment's number, which its rows carry. While a listener is connected, a reset of the sandbox changes it. */
  environment: number;
  name: Environment;
  livemode: boolean;
  account: { id: string; name: string; version: string };
}

/** One change: its transaction, environment and time, and the request that causes it. */
export interface RequestContext {
  tx: Transaction;
  tenant: Tenant;
  /** Null for a change that no request caused. */
  requestId: string | null;
  /** The trace of the request, and so of the events that it causes, as `parseTraceparent` returns it. */
  trace?: string | null;
  /** An event has the shape of the version that the account is pinned to. */
  versions: Versions;
  /** Unix milliseconds. */
  now: number;
  /** Returns a new ID with the time `now`. */
  newId: (kind: IdKind) => string;
}

/** The authenticated caller of a request. */
export interface Caller {
  tenant: Tenant;
  credential: {
    kind: "secret_key" | "restricted_key" | "access_token" | "session";
    id: string;
    prefix: string;
    last4: string;
  };
  /**
   * The owner of the credential, which stays the same when a token is refreshed: a key, a grant with its scopes, or a
   * user.
   */
  principal: string;
  user: { id: string; email: string } | null;
  /** The role of a signed-in user; absent for other callers. */
  role?: "owner" | "member";
  scopes: readonly Scope[];
  /** CIDR ranges that the key is limited to; empty for none, and for access tokens. */
  ipAllowlist: readonly string[];
  /**
   * When the key expires, on its environment's clock; null for never, and for access tokens, which their user can
   * renew.
   */
  expiresAt: number | null;
  /** True if its requests may get faults of the sandbox. */
  hasFaults: boolean;
}
