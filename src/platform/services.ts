import type { IdGenerator } from "../contract/ids.ts";
import type { Clock, Log, Random } from "./ports.ts";
import type { Database } from "./storage/database.ts";
import type { Vault } from "./vault.ts";
import type { Activity } from "./activity.ts";

/** What every part of the platform works with: made once, at start. */
export interface Services {
  database: Database;
  vault: Vault;
  clock: Clock;
  random: Random;
  log: Log;
  newId: IdGenerator;
  /** The API's own origin, without a slash at its end: known once the server listens. */
  baseUrl: string;
  report: (activity: Activity) => void;
}
