import type { IdGenerator } from "../contract/ids.ts";
import type { Versions } from "./domain/versions.ts";
import type { ClockTrust } from "./time/clock-trust.ts";
import type { EnvironmentTime } from "./time/environment-time.ts";
import type { Clock, Log, Random } from "./ports.ts";
import type { CreateLimiter } from "./limits/limiter.ts";
import type { ClientAddress } from "./http/client-address.ts";
import type { Database } from "./storage/database.ts";
import type { RequestRecorder } from "./observability/request-recorder.ts";
import type { RateLimit } from "./limits/rate-limit.ts";
import type { Vault } from "./secrets/vault.ts";
import type { Activity } from "./observability/activity.ts";

/** What deliveries may reach. */
export interface DeliveryTargets {
  /** True for work on one machine: private addresses may be reached, and sandbox endpoints may be http. */
  allowPrivate: boolean;
  /** Why a URL's host can never be delivered to, or undefined. */
  blockReason: (url: URL) => string | undefined;
}

/** What every part of the platform works with: made once, at start. */
export interface Services {
  database: Database;
  vault: Vault;
  clock: Clock;
  /** Asked before anything irreversible is done because of its age. */
  clockTrust: ClockTrust;
  random: Random;
  log: Log;
  /** Ids of what belongs to no environment, at real time. */
  newId: IdGenerator;
  /** What time it is in an environment, and the ids of what happens there. */
  time: EnvironmentTime;
  versions: Versions;
  targets: DeliveryTargets;
  /** The API's origin as clients see it, without a slash at its end: known once the server listens. */
  baseUrl: string;
  /** Where clients reach the platform, if the operator named it. */
  publicUrl: URL | undefined;
  report: (activity: Activity) => void;
  /** Writes down what each account asked for. */
  requests: RequestRecorder;
  /** Makes a limit of attempts that holds in all processes together. */
  createLimiter: CreateLimiter;
  clientAddress: ClientAddress;
  /** Absent where requests are not limited. */
  rateLimit?: RateLimit | undefined;
}
