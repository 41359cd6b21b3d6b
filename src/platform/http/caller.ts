import type { Scope } from "../../contract/scopes.ts";
import type { Tenant } from "../domain/request-context.ts";

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
