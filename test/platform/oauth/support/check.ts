import type { AuthorizationServer } from "./authorization-server.ts";

/** A requirement for every authorization server. */
export interface Check {
  name: string;
  /** Rejects if the server violates it. */
  run(server: AuthorizationServer): Promise<void>;
}
