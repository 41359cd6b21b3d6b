import type { LookupFunction } from "node:net";
import type { ApiVersion } from "../contract/versions.ts";
import type { Activity } from "./observability/activity.ts";
import type { DeliveryLimits } from "./delivery/endpoint-queues.ts";
import type { DeploymentSettings } from "./deployment.ts";
import type { AddressRange } from "../network/addresses.ts";
import type { PasswordCost } from "./domain/passwords.ts";
import type { LoadMcp } from "./api/mcp.ts";
import type { RateLimits } from "./security/rate-limit.ts";
import type { Clock } from "./ports.ts";

/** Role of the process: serve the API (and listeners), deliver webhooks and remove expired data, or everything. */
type Role = "all" | "api" | "worker";

export interface PlatformSettings extends DeploymentSettings {
  host: string;
  /** 0 chooses a free port. */
  port: number;
  role?: Role;
  /** Public URL of the API, if clients do not reach it where this process listens: https://api.example.com */
  publicUrl?: string | undefined;
  /** Proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly AddressRange[];
  report: (activity: Activity) => void;
  clock?: Clock;
  /** Allows deliveries to private addresses, and sandbox endpoints with http: for local development. */
  allowPrivateTargets?: boolean;
  deliveryLimits?: Partial<DeliveryLimits>;
  /** How long a request may take (default: 20). */
  requestSeconds?: number;
  /** Rate limit of a credential (default: unlimited). */
  rateLimits?: RateLimits | undefined;
  /** The command that prints a sign-in link, for browsers on this machine. */
  linkCommand?: string | undefined;
  /** Resolves the host names of endpoints. */
  lookup?: LookupFunction;
  /** Versions of the API, oldest first (default: the contract's own). */
  versions?: readonly [ApiVersion, ...ApiVersion[]];
  /** URL or file of the public keys that sign leak reports. Without it no reports are accepted. */
  leakKeys?: string | undefined;
  /** Cost of hashing a password. Tests that sign in often use less than the default. */
  passwordCost?: PasswordCost | undefined;
  /** Folder of the dashboard's built files. Without it, /dashboard leads to the page for sign-in details. */
  dashboard?: string | undefined;
  /** Loads the MCP server at the first request. Without it there is none at /mcp. */
  mcp?: LoadMcp;
  /** Whom to write to about this platform: a mailto or https URI. */
  contact?: string | undefined;
}
