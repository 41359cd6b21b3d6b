import type { AuthorizationServer } from "./authorization-server.ts";

/** One thing that a server must do, whoever wrote the server. */
export interface Check {
  name: string;
  /** Rejects if the server does not. */
  run(server: AuthorizationServer): Promise<void>;
}
