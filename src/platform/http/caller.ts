import type { Scope } from "../../contract/scopes.ts";
import type { Tenant } from "../domain/occasion.ts";

/** Whom a request stands for: proven by its credential. */
export interface Caller {
  tenant: Tenant;
  credential: {
    kind: "secret_key" | "restricted_key" | "access_token";
    id: string;
    prefix: string;
    last4: string;
  };
  user: { id: string; email: string } | null;
  scopes: readonly Scope[];
}
