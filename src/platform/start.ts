import { lookup as systemLookup } from "node:dns";
import type { AddressInfo, LookupFunction } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Activity } from "./activity.ts";
import { API_VERSIONS, type ApiVersion } from "../contract/versions.ts";
import { createIdGenerator } from "../contract/ids.ts";
import { registerDocs } from "./docs/routes.ts";
import { createDeliveryEngine } from "./delivery/engine.ts";
import type { DeliveryLimits } from "./delivery/lanes.ts";
import { createTargetGuard } from "./delivery/target-guard.ts";
import { removeAdminFile, writeAdminFile } from "./admin/admin-file.ts";
import { adminRoutes, signInUrl } from "./admin/routes.ts";
import { createFirstAccount, type FirstAccount } from "./domain/first-account.ts";
import { Versions } from "./domain/versions.ts";
import { EnvironmentTime } from "./environment-time.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import { createApp } from "./http/app.ts";
import { registerHealth } from "./http/health.ts";
import { KeyUsage } from "./key-usage.ts";
import { RateLimit, type RateLimits } from "./http/rate-limit.ts";
import { createListenServer } from "./listen/server.ts";
import { leakReportRoute } from "./leaks/report-route.ts";
import { SigningKeys } from "./leaks/signing-keys.ts";
import { assertMasterKey, loadMasterKeyFile, parseMasterKey } from "./master-key.ts";
import { createMetrics } from "./metrics.ts";
import type { Clock, Log, Random } from "./ports.ts";
import { RequestRecorder } from "./request-recorder.ts";
import type { Services } from "./services.ts";
import { MIGRATIONS } from "./storage/migrations/index.ts";
import { openSqlite } from "./storage/sqlite.ts";
import { systemClock, systemRandom } from "./system.ts";
import { createUpkeep } from "./upkeep.ts";
import { createVault } from "./vault.ts";
import { registerWeb } from "./web.ts";

/** How long a stop waits for requests in flight. */
const DRAIN_SECONDS = 10;
const DELIVERY_LIMITS: DeliveryLimits = { perEndpoint: 20, perProcess: 256 };

export interface PlatformSettings {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** SQLite file; its master key lies beside it unless one is given. */
  database: string;
  /** 32 bytes in hex or base64. */
  masterKey?: string | undefined;
  /** This program's version, kept with the migrations that it ran. */
  version: string;
  log: Log;
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
  /** Folder of the API reference's built files; without it there is no page at /docs. */
  reference?: string | undefined;
}

export interface Platform {
  baseUrl: string;
  /** Set where the database was empty: its first account and keys, never shown again. */
  firstAccount: (Omit<FirstAccount, "linkToken"> & { signInUrl: string }) | undefined;
  /** Takes nothing new, finishes what is in flight, closes the database. */
  close(): Promise<void>;
}

/** Starts the platform: configuration, database, domain, HTTP. Rejects with StorageOpenError, MasterKeyError, SigningKeysError or the listen error. */
export async function startPlatform(settings: PlatformSettings): Promise<Platform> {
  const clock = settings.clock ?? systemClock;
  const random = settings.random ?? systemRandom;
  const versions = new Versions(settings.versions ?? API_VERSIONS);
  const newId = createIdGenerator((size) => random.bytes(size));
  const leakKeys = settings.leakKeys === undefined ? undefined : new SigningKeys(settings.leakKeys, clock.now);
  const database = await openSqlite({
    file: settings.database,
    migrations: MIGRATIONS,
    version: settings.version,
    log: settings.log,
  });
  try {
    const masterKey =
      settings.masterKey === undefined
        ? loadMasterKeyFile(`${settings.database}.key`)
        : parseMasterKey(settings.masterKey);
    const vault = createVault(masterKey, random);
    await assertMasterKey(database, vault);
    const firstAccount = await database.write((tx) =>
      createFirstAccount(tx, { vault, random, newId, version: versions.latest }, clock.now()),
    );

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
      rateLimit: settings.rateLimits === undefined ? undefined : new RateLimit(clock.now, settings.rateLimits),
    };
    const usage = new KeyUsage(database, clock, settings.log);
    const authenticate = createAuthenticate({ database, vault, now: clock.now, usage });
    const engine = createDeliveryEngine(services, guard, settings.deliveryLimits ?? DELIVERY_LIMITS);
    const upkeep = createUpkeep(services);
    const app = createApp(services, authenticate, engine.advance);
    registerHealth(app, services, metrics);
    registerWeb(app, services);
    registerDocs(app, services, settings.reference);
    app.register(async (scope) => leakReportRoute(scope, services, leakKeys));
    const adminToken = Buffer.from(random.bytes(32)).toString("base64url");
    adminRoutes(app, services, adminToken);
    const listening = createListenServer(app.server, services, authenticate);
    await app.listen({ host: settings.host, port: settings.port });
    const { address, port, family } = app.server.address() as AddressInfo;
    services.baseUrl = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
    await engine.start();
    upkeep.start();
    writeAdminFile(settings.database, { url: localUrl(services.baseUrl), token: adminToken });
    return {
      baseUrl: services.baseUrl,
      firstAccount: firstAccount && {
        id: firstAccount.id,
        keys: firstAccount.keys,
        signInUrl: signInUrl(services.baseUrl, firstAccount.linkToken),
      },
      async close() {
        removeAdminFile(settings.database);
        await Promise.all([engine.stop(), upkeep.stop(), listening.close().then(() => closeServer(app))]);
        await usage.close();
        await services.requests.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
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
