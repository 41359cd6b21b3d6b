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

/** The rules about what deliveries may reach. */
export interface DeliveryTargets {
  /** True for local development: private addresses may be reached, and sandbox endpoints may use http. */
  allowPrivate: boolean;
  /** Returns why a URL's host can never be delivered to, or undefined. */
  blockReason: (url: URL) => string | undefined;
}

/** The services of every part of the platform, created once at start. */
export interface Services {
  database: Database;
  vault: Vault;
  clock: Clock;
  /** Checked before anything irreversible is done because of its age. */
  clockTrust: ClockTrust;
  random: Random;
  log: Log;
  /** Creates IDs of what belongs to no environment, in real time. */
  newId: IdGenerator;
  /** The time of each environment, and IDs created in it. */
  time: EnvironmentTime;
  versions: Versions;
  targets: DeliveryTargets;
  /** The API's origin as clients see it, without a trailing slash. Known once the server listens. */
  baseUrl: string;
  /** The public URL of the platform, if configured. */
  publicUrl: URL | undefined;
  report: (activity: Activity) => void;
  /** Records the API requests of each account. */
  requests: RequestRecorder;
  /** Creates a rate limit that all processes share. */
  createLimiter: CreateLimiter;
  clientAddress: ClientAddress;
  /** Absent if requests are not limited. */
  rateLimit?: RateLimit | undefined;
}
