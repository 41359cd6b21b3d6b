import type { IdGenerator } from "../contract/ids.ts";
import type { Versions } from "./domain/versions.ts";
import type { ClientAddress } from "./http/client-address.ts";
import type { Activity } from "./observability/activity.ts";
import type { BackgroundWork } from "./observability/background-work.ts";
import type { RequestRecorder } from "./observability/request-recorder.ts";
import type { Clock, Log, Random } from "./ports.ts";
import type { CreateLimiter, RateLimit } from "./security/rate-limit.ts";
import type { Vault } from "./security/vault.ts";
import type { Database } from "./storage/database.ts";
import type { ClockTrust } from "./time/clock-trust.ts";
import type { EnvironmentTime } from "./time/environment-time.ts";

/** What the parts of the platform share, created once. */
interface Tools {
  database: Database;
  vault: Vault;
  /** The clock that all processes on the database share. */
  clock: Clock;
  clockTrust: ClockTrust;
  time: EnvironmentTime;
  random: Random;
  newId: IdGenerator;
  log: Log;
  versions: Versions;
  background: BackgroundWork;
  requests: RequestRecorder;
  report: (activity: Activity) => void;
  /** Returns the API's origin as clients see it, without a trailing slash. Known once the server listens. */
  baseUrl: () => string;
  /** The public URL of the platform, if configured. */
  publicUrl: URL | undefined;
  clientAddress: ClientAddress;
  createLimiter: CreateLimiter;
  /** Undefined if requests are not limited. */
  rateLimit: RateLimit | undefined;
}

/** The tools that a part uses. */
export type With<Name extends keyof Tools> = Pick<Tools, Name>;
