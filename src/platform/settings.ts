import type { LookupFunction } from "node:net";
import type { ApiVersion } from "../contract/versions.ts";
import type { Activity } from "./observability/activity.ts";
import type { DeliveryLimits } from "./delivery/endpoint-queues.ts";
import type { DeploymentSettings } from "./deployment.ts";
import type { AddressRange } from "./domain/addresses.ts";
import type { PasswordCost } from "./domain/passwords.ts";
import type { RateLimits } from "./limits/rate-limit.ts";
import type { Clock, Random } from "./ports.ts";

/** What a process does: serve the API (and listeners), deliver webhooks and clear old history away, or all of it. */
type Role = "all" | "api" | "worker";

export interface PlatformSettings extends DeploymentSettings {
  host: string;
  /** 0 takes a free port. */
  port: number;
  role?: Role;
  /** Where clients reach the API, if that is not where this process listens: https://api.example.com */
  publicUrl?: string | undefined;
  /** Proxies whose word on who calls is taken. */
  trustedProxies?: readonly AddressRange[];
  report: (activity: Activity) => void;
  clock?: Clock;
  random?: Random;
  /** Lets deliveries reach private addresses, and sandbox endpoints be http: for work on one machine. */
  allowPrivateTargets?: boolean;
  deliveryLimits?: Partial<DeliveryLimits>;
  /** How often a credential may call; without it as often as it likes. */
  rateLimits?: RateLimits | undefined;
  /** Resolves the names of endpoints' hosts. */
  lookup?: LookupFunction;
  /** Versions of the API, oldest first; the contract's own unless a test brings others. */
  versions?: readonly [ApiVersion, ...ApiVersion[]];
  /** URL or file of the public keys that leak reports are signed with; without it none is taken. */
  leakKeys?: string | undefined;
  /** How much work it is to hash a password; tests that sign in often take less than the default. */
  passwordCost?: PasswordCost | undefined;
  /** Folder of the dashboard's built files; without it /dashboard leads to the page that needs none. */
  dashboard?: string | undefined;
  /** Folder of the API reference's built files; without it there is no page at /docs. */
  reference?: string | undefined;
}
