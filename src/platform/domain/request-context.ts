import type { Environment } from "../../contract/environments.ts";
import type { IdKind } from "../../contract/ids.ts";
import type { Versions } from "./versions.ts";
import type { Scope } from "../../contract/scopes.ts";

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

/** Whom a request stands for: proven by its credential. */
export interface Caller {
  tenant: Tenant;
  credential: {
    kind: "secret_key" | "restricted_key" | "access_token" | "session";
    id: string;
    prefix: string;
    last4: string;
  };
  /** Whose credential it is, the same after a token was refreshed: a key, a grant with its scopes, or a user. */
  principal: string;
  user: { id: string; email: string } | null;
  /** Set for a person who is signed in. */
  role?: "owner" | "member";
  scopes: readonly Scope[];
  /** CIDR ranges that the key is bound to; empty for none, and for access tokens. */
  ipAllowlist: readonly string[];
  /** When the key ends, on its environment's clock; null for never, and for access tokens, whose user can renew them. */
  expiresAt: number | null;
}
