import { lookup as systemLookup } from "node:dns";
import type { Server } from "node:http";
import type { FastifyInstance } from "fastify";
import { adminRoutes } from "./admin/routes.ts";
import { ClockTrust } from "./clock-trust.ts";
import { createLookup } from "./delivery/dns.ts";
import { createDeliveryEngine, type DeliveryEngine } from "./delivery/engine.ts";
import type { DeliveryLimits } from "./delivery/endpoint-queues.ts";
import { createTargetGuard, type TargetGuard } from "./delivery/target-guard.ts";
import type { Deployment } from "./deployment.ts";
import { descriptorBudget } from "./descriptors.ts";
import { registerDocs } from "./docs/routes.ts";
import type { Versions } from "./domain/versions.ts";
import { EnvironmentTime } from "./environment-time.ts";
import { createApp } from "./http/app.ts";
import { type Authenticate, createAuthenticate } from "./http/authenticate.ts";
import { createClientAddress } from "./http/client-address.ts";
import { registerHealth } from "./http/health.ts";
import { RateLimit } from "./http/rate-limit.ts";
import { KeyUsage } from "./key-usage.ts";
import { leakReportRoute } from "./leaks/report-route.ts";
import { SigningKeys } from "./leaks/signing-keys.ts";
import type { CreateLimiter } from "./limits/limiter.ts";
import { localLimiters } from "./limits/local-limiter.ts";
import { sharedLimiters } from "./limits/shared-limiter.ts";
import { registerEventStream } from "./listen/event-stream-route.ts";
import { createListenServer, type ListenServer } from "./listen/server.ts";
import { createCountFolder } from "./maintenance/fold-counts.ts";
import { createRetention } from "./maintenance/retention.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { Periodic } from "./periodic.ts";
import type { Log, Random } from "./ports.ts";
import { RequestRecorder } from "./request-recorder.ts";
import type { Services } from "./services.ts";
import type { PlatformSettings } from "./settings.ts";
import { TransactionWatch } from "./transaction-watch.ts";
import { registerWeb } from "./web.ts";

/** How long a stop waits for requests in flight. */
const DRAIN_SECONDS = 10;
const DELIVERY_LIMITS: DeliveryLimits = { perEndpoint: 20, perProcess: 256, bodyBytes: 64 * 1024 * 1024 };

/** All that runs in this process, made and not yet begun. */
export interface Parts {
  deployment: Deployment;
  services: Services;
  app: FastifyInstance;
  engine: DeliveryEngine;
  retention: Periodic;
  countFolder: Periodic;
  transactions: TransactionWatch;
  /** Absent where the process serves no API. */
  listening: ListenServer | undefined;
  /** What is written behind the requests, and once more before the database closes. */
  writers: readonly { close(): Promise<void> }[];
  adminToken: string;
  health: { isStopping: boolean };
}

/** Throws SigningKeysError. */
export async function assembleParts(
  deployment: Deployment,
  settings: PlatformSettings,
  { random, versions }: { random: Random; versions: Versions },
): Promise<Parts> {
  const { database, clock } = deployment;
  const leakKeys = settings.leakKeys === undefined ? undefined : new SigningKeys(settings.leakKeys, clock.elapsed);
  const limiters = database.dialect === "postgres" ? sharedLimiters(database, settings.log) : undefined;
  const transactions = new TransactionWatch({ database, clock, log: settings.log });
  const metrics = await createMetrics({ database, clock }, transactions);
  const allowPrivate = settings.allowPrivateTargets ?? false;
  const guard = createTargetGuard({
    allowPrivate,
    // Names that only the system knows (mDNS, this machine's own) are private.
    lookup: settings.lookup ?? createLookup({ system: allowPrivate ? systemLookup : undefined }),
  });
  const createLimiter = limiters?.create ?? localLimiters(clock.elapsed);
  const services = createServices(deployment, settings, { random, versions, guard, metrics, createLimiter });
  const usage = new KeyUsage(database, clock, settings.log);
  const authenticate = createAuthenticate({ ...services, now: clock.now, usage });
  const descriptors = descriptorBudget(DELIVERY_LIMITS.perProcess);
  const perProcess = descriptors?.deliveries ?? DELIVERY_LIMITS.perProcess;
  const engine = createDeliveryEngine(services, guard, { ...DELIVERY_LIMITS, perProcess, ...settings.deliveryLimits });
  const health = { isStopping: false };
  const adminToken = Buffer.from(random.bytes(32)).toString("base64url");
  const servesApi = settings.role !== "worker";
  const app = createApp(services, servesApi ? { authenticate, clockAdvancer: engine.clockAdvancer } : undefined);
  if (descriptors !== undefined) limitConnections(app.server, descriptors.connections, settings.log);
  registerHealth(app, services, { metrics, isStopping: () => health.isStopping });
  if (servesApi) registerRoutes(app, services, { authenticate, settings, leakKeys, adminToken });
  return {
    deployment,
    services,
    app,
    engine,
    retention: createRetention(services),
    countFolder: createCountFolder(services),
    transactions,
    listening: servesApi ? createListenServer(app.server, services, authenticate) : undefined,
    writers: [...(limiters === undefined ? [] : [limiters]), usage, services.requests],
    adminToken,
    health,
  };
}

/** Refuses connections that would leave no file descriptors for anything else. */
function limitConnections(server: Server, max: number, log: Log): void {
  server.maxConnections = max;
  server.once("drop", () =>
    log.warn({ max }, "connections of clients are refused: raise the limit of open files (ulimit -n)"),
  );
}

function createServices(
  { database, vault, clock, newId, newestIds, lastTrusted }: Deployment,
  settings: PlatformSettings,
  tools: { random: Random; versions: Versions; guard: TargetGuard; metrics: Metrics; createLimiter: CreateLimiter },
): Services {
  const { random, versions, guard, metrics, createLimiter } = tools;
  return {
    database,
    vault,
    clock,
    random,
    newId,
    clockTrust: new ClockTrust(clock, settings.log, lastTrusted),
    time: new EnvironmentTime(clock, random, newestIds.environments),
    log: settings.log,
    report(activity) {
      metrics.observe(activity);
      settings.report(activity);
    },
    targets: { allowPrivate: settings.allowPrivateTargets ?? false, refusalOf: guard.refusalOf },
    baseUrl: "",
    versions,
    requests: new RequestRecorder({ database, clock, log: settings.log, vault }),
    createLimiter,
    clientAddress: createClientAddress(settings.trustedProxies ?? []),
    publicUrl: settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl),
    rateLimit: settings.rateLimits === undefined ? undefined : new RateLimit(createLimiter, settings.rateLimits),
  };
}

/** What is served besides the operations of the API. */
function registerRoutes(
  app: FastifyInstance,
  services: Services,
  {
    authenticate,
    settings,
    leakKeys,
    adminToken,
  }: {
    authenticate: Authenticate;
    settings: PlatformSettings;
    leakKeys: SigningKeys | undefined;
    adminToken: string;
  },
): void {
  registerWeb(app, services, settings);
  registerEventStream(app, services, authenticate);
  registerDocs(app, services, settings.reference);
  app.register(async (scope) => leakReportRoute(scope, services, leakKeys));
  adminRoutes(app, services, adminToken);
}

/** Takes nothing new, finishes what is in flight within its time limits, and closes the database. */
export async function stopParts({
  deployment,
  app,
  engine,
  retention,
  countFolder,
  transactions,
  listening,
  writers,
}: Parts): Promise<void> {
  const closed = Promise.resolve(listening?.close()).then(() => closeServer(app));
  await Promise.all([engine.stop(), retention.stop(), countFolder.stop(), transactions.stop(), closed]);
  await Promise.all(writers.map((writer) => writer.close()));
  await deployment.close();
}

/** Lets requests in flight end, for as long as a stop may take; then cuts what is left. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_SECONDS * 1000);
  await app.close();
  clearInterval(sweep);
  clearTimeout(cut);
}
