import { lookup as systemLookup } from "node:dns";
import type { AddressInfo, LookupFunction } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Activity } from "./activity.ts";
import { API_VERSIONS, type ApiVersion } from "../contract/versions.ts";
import { registerDocs } from "./docs/routes.ts";
import { createDeliveryEngine } from "./delivery/engine.ts";
import type { DeliveryLimits } from "./delivery/lanes.ts";
import { createTargetGuard } from "./delivery/target-guard.ts";
import { removeAdminFile, writeAdminFile } from "./admin/admin-file.ts";
import { adminRoutes, signInUrl } from "./admin/routes.ts";
import { type Deployment, type DeploymentSettings, openDeployment } from "./deployment.ts";
import type { AddressRange } from "./domain/addresses.ts";
import type { FirstAccount } from "./domain/first-account.ts";
import { localLimiters } from "./domain/limiter.ts";
import { Versions } from "./domain/versions.ts";
import { EnvironmentTime } from "./environment-time.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import { createApp } from "./http/app.ts";
import { registerHealth } from "./http/health.ts";
import { KeyUsage } from "./key-usage.ts";
import { createClientAddress } from "./http/client-address.ts";
import { RateLimit, type RateLimits } from "./http/rate-limit.ts";
import { sharedLimiters } from "./shared-limiters.ts";
import { registerEventStream } from "./listen/event-stream-route.ts";
import { createListenServer } from "./listen/server.ts";
import { leakReportRoute } from "./leaks/report-route.ts";
import { SigningKeys } from "./leaks/signing-keys.ts";
import { createMetrics } from "./metrics.ts";
import type { Clock, Random } from "./ports.ts";
import { RequestRecorder } from "./request-recorder.ts";
import type { Services } from "./services.ts";
import { PUBLIC_URL_SETTING, putSetting } from "./storage/settings.ts";
import { systemClock, systemRandom } from "./system.ts";
import { createUpkeep } from "./upkeep.ts";
import { registerWeb } from "./web.ts";

/** How long a stop waits for requests in flight. */
const DRAIN_SECONDS = 10;
const DELIVERY_LIMITS: DeliveryLimits = { perEndpoint: 20, perProcess: 256 };

/** What a process does: serve the API (and listeners), deliver webhooks and clear old history away, or all of it. */
export type Role = "all" | "api" | "worker";

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
  deliveryLimits?: DeliveryLimits;
  /** How often a credential may call; without it as often as it likes. */
  rateLimits?: RateLimits | undefined;
  /** Resolves the names of endpoints' hosts. */
  lookup?: LookupFunction;
  /** Versions of the API, oldest first; the contract's own unless a test brings others. */
  versions?: readonly [ApiVersion, ...ApiVersion[]];
  /** URL or file of the public keys that leak reports are signed with; without it none is taken. */
  leakKeys?: string | undefined;
  /** Folder of the dashboard's built files; without it /dashboard leads to the page that needs none. */
  dashboard?: string | undefined;
  /** Folder of the API reference's built files; without it there is no page at /docs. */
  reference?: string | undefined;
}

export interface Platform {
  /** The API as clients reach it. */
  baseUrl: string;
  /** Where this process listens. */
  listenUrl: string;
  /** Set where the database was empty: its first account and keys, never shown again. */
  firstAccount: (Omit<FirstAccount, "linkToken"> & { signInUrl: string }) | undefined;
  /**
   * Says that it is not ready any more and, after so many seconds in which a balancer can notice, takes nothing new,
   * finishes what is in flight and closes the database.
   */
  close(delaySeconds?: number): Promise<void>;
}

/** Starts the platform: configuration, database, domain, HTTP. Rejects with StorageOpenError, MasterKeyError, SigningKeysError or the listen error. */
export async function startPlatform(settings: PlatformSettings): Promise<Platform> {
  const random = settings.random ?? systemRandom;
  const versions = new Versions(settings.versions ?? API_VERSIONS);
  const deployment = await openDeployment(settings, { machine: settings.clock ?? systemClock, random, versions });
  try {
    return await run(deployment, settings, random, versions);
  } catch (error) {
    await deployment.close();
    throw error;
  }
}

async function run(
  deployment: Deployment,
  settings: PlatformSettings,
  random: Random,
  versions: Versions,
): Promise<Platform> {
  const { database, vault, clock, newId, firstAccount } = deployment;
  const role = settings.role ?? "all";
  const leakKeys = settings.leakKeys === undefined ? undefined : new SigningKeys(settings.leakKeys, clock.now);
  const limiters = database.dialect === "postgres" ? sharedLimiters(database, settings.log) : undefined;
  const createLimiter = limiters?.create ?? localLimiters(clock.now);
  const metrics = await createMetrics({ database, clock });
  const guard = createTargetGuard({
    allowPrivate: settings.allowPrivateTargets ?? false,
    lookup: settings.lookup ?? systemLookup,
  });
  const services: Services = {
    database,
    vault,
    clock,
    random,
    newId,
    time: new EnvironmentTime(clock, random),
    log: settings.log,
    report(activity) {
      metrics.observe(activity);
      settings.report(activity);
    },
    targets: { allowPrivate: settings.allowPrivateTargets ?? false, refusalOf: guard.refusalOf },
    baseUrl: "",
    versions,
    requests: new RequestRecorder({ database, clock, log: settings.log }),
    createLimiter,
    clientAddress: createClientAddress(settings.trustedProxies ?? []),
    publicHost: settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl).hostname,
    rateLimit: settings.rateLimits === undefined ? undefined : new RateLimit(createLimiter, settings.rateLimits),
  };
  const usage = new KeyUsage(database, clock, settings.log);
  const authenticate = createAuthenticate({ ...services, now: clock.now, usage });
  const engine = createDeliveryEngine(services, guard, settings.deliveryLimits ?? DELIVERY_LIMITS);
  const upkeep = createUpkeep(services);
  let stopping = false;
  const app = createApp(services, role === "worker" ? undefined : { authenticate, advanceClock: engine.advance });
  registerHealth(app, services, { metrics, isStopping: () => stopping });
  const listening = role === "worker" ? undefined : createListenServer(app.server, services, authenticate);
  const adminToken = Buffer.from(random.bytes(32)).toString("base64url");
  if (role !== "worker") {
    registerWeb(app, services, settings.dashboard);
    registerEventStream(app, services, authenticate);
    registerDocs(app, services, settings.reference);
    app.register(async (scope) => leakReportRoute(scope, services, leakKeys));
    adminRoutes(app, services, adminToken);
  }
  await app.listen({ host: settings.host, port: settings.port });
  const { address, port, family } = app.server.address() as AddressInfo;
  const listenUrl = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  services.baseUrl = settings.publicUrl ?? listenUrl;
  if (role !== "api") {
    await engine.start();
    upkeep.start();
  }
  const hasAdminFile = database.dialect === "sqlite";
  if (!hasAdminFile && role !== "worker") {
    await database.write((tx) => putSetting(tx, PUBLIC_URL_SETTING, Buffer.from(services.baseUrl)));
  }
  if (hasAdminFile) writeAdminFile(settings.database, { url: localUrl(listenUrl), token: adminToken });
  return {
    baseUrl: services.baseUrl,
    listenUrl,
    firstAccount: firstAccount && {
      id: firstAccount.id,
      keys: firstAccount.keys,
      signInUrl: signInUrl(services.baseUrl, firstAccount.linkToken),
    },
    async close(delaySeconds = 0) {
      stopping = true;
      if (delaySeconds > 0) {
        await new Promise((resolve) => {
          setTimeout(resolve, delaySeconds * 1000);
        });
      }
      if (hasAdminFile) removeAdminFile(settings.database);
      const closed = Promise.resolve(listening?.close()).then(() => closeServer(app));
      await Promise.all([engine.stop(), upkeep.stop(), closed]);
      await limiters?.close();
      await usage.close();
      await services.requests.close();
      await deployment.close();
    },
  };
}

/** A server on every address is reached by the machine's own one. */
function localUrl(baseUrl: string): string {
  return baseUrl.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Lets requests in flight end, for as long as a stop may take; then cuts what is left. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_SECONDS * 1000);
  await app.close();
  clearInterval(sweep);
  clearTimeout(cut);
}
