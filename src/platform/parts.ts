import fastifyCookie from "@fastify/cookie";
import { join } from "node:path";
import { lookup as systemLookup } from "node:dns";
import type { Server } from "node:http";
import type { FastifyInstance } from "fastify";
import { adminRoutes } from "./admin.ts";
import { ClockTrust } from "./time/clock-trust.ts";
import { createLookup } from "./delivery/dns.ts";
import { createDeliveryEngine } from "./delivery/engine.ts";
import type { DeliveryLimits } from "./delivery/endpoint-queues.ts";
import { createTargetGuard } from "./delivery/target-guard.ts";
import type { Deployment } from "./deployment.ts";
import type { Sessions } from "./domain/deliveries.ts";
import { registerWellKnownPaths } from "./api/docs/well-known.ts";
import { registerDocs } from "./api/docs/routes.ts";
import { EnvironmentTime } from "./time/environment-time.ts";
import { createApp } from "./http/app.ts";
import type { Listeners } from "./api/handlers.ts";
import { serveApi } from "./api/serve.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import { createClientAddress, trustOf } from "./http/client-address.ts";
import { registerHealth } from "./http/health.ts";
import { limitSilentConnections } from "./http/silent-connections.ts";
import { localLimiters, RateLimit } from "./security/rate-limit.ts";
import { KeyUsage } from "./security/key-usage.ts";
import { leakReportRoute } from "./api/leak-reports.ts";
import { SigningKeys } from "./security/signing-keys.ts";
import { sharedLimiters } from "./security/shared-limiter.ts";
import { registerEventStream } from "./listen/event-stream.ts";
import { ListenerRegistry } from "./listen/listeners.ts";
import { createListenServer, registerLostUpgrade } from "./listen/server.ts";
import { createCountFolder, createRetention } from "./maintenance/retention.ts";
import { registerMcp } from "./api/mcp.ts";
import { BackgroundWork } from "./observability/background-work.ts";
import { createMetrics } from "./observability/metrics.ts";
import type { Log } from "./ports.ts";
import { RequestRecorder } from "./observability/request-recorder.ts";
import type { PlatformSettings } from "./settings.ts";
import { TransactionWatch } from "./observability/transaction-watch.ts";
import { readFileSync } from "node:fs";
import { dashboardRoutes, loadAssets, pageOfBadUrl } from "./dashboard/routes.ts";
import { Passwords } from "./domain/passwords.ts";
import { logFailure, type TaggedFile } from "./http/send.ts";
import { INTERNAL_ERROR, toApiError } from "./http/problem.ts";
import { authorizeRoutes } from "./oauth/authorize-routes.ts";
import { deviceRoutes } from "./oauth/device-grant.ts";
import { tokenRoutes } from "./oauth/token-routes.ts";
import { errorPage, PageError, sendPage } from "./http/pages/page.ts";
import { ParameterError, takeForms } from "./http/pages/parameters.ts";
import { accountRoutes } from "./oauth/account-routes.ts";
import { BrowserSessions } from "./oauth/browser-sessions.ts";
import { linkRoutes, signInRoutes } from "./oauth/sign-in-routes.ts";
import type { Activity } from "./observability/activity.ts";
import type { With } from "./tools.ts";

const REQUEST_SECONDS = 20;
/** How long a stop waits for requests in flight. */
const DRAIN_SECONDS = 10;
const DELIVERY_LIMITS: DeliveryLimits = {
  perEndpoint: 20,
  perProcess: 256,
  allAdvances: 2048,
  bodyBytes: 64 * 1024 * 1024,
};

/** The parts of this process, created but not started. */
export type Parts = Awaited<ReturnType<typeof assembleParts>>;

/** Throws SigningKeysError. */
export async function assembleParts(
  deployment: Deployment,
  settings: PlatformSettings,
  { random, versions }: With<"random" | "versions">,
) {
  const { database, clock } = deployment;
  const leakKeys = settings.leakKeys === undefined ? undefined : new SigningKeys(settings.leakKeys, clock.elapsed);
  const address = { baseUrl: "" };
  const shared = await createShared(deployment, settings, { random, versions, baseUrl: () => address.baseUrl });
  const { limiters, metrics, transactions } = shared;
  const usage = new KeyUsage(shared);
  const authenticate = createAuthenticate({ ...shared, now: clock.now, usage });
  const descriptors = descriptorBudget(DELIVERY_LIMITS);
  const limits = { ...DELIVERY_LIMITS, ...descriptors?.deliveries, ...settings.deliveryLimits };
  const registry = new ListenerRegistry(shared);
  const sessionsIn: Sessions = (queries, tenant) => registry.sessionsIn(queries, tenant);
  const engine = createDeliveryEngine({ ...shared, sessionsIn }, limits);
  const health = { isStopping: false };
  const adminToken = Buffer.from(random.bytes(32)).toString("base64url");
  const servesApi = settings.role !== "worker";
  const { requestSeconds = REQUEST_SECONDS, contact } = settings;
  const app = createApp({ ...shared, pageOfBadUrl, requestSeconds });
  if (descriptors !== undefined) limitConnections(app.server, descriptors.connections, settings.log);
  registerHealth(app, database, { metrics, isStopping: () => health.isStopping });
  if (servesApi) {
    const listeners: Listeners = {
      sessionsIn,
      endedIn: (tenant) => registry.endedIn(tenant),
      resultsOf: (environment, event, now) => listening?.resultsOf(environment, event, now) ?? [],
    };
    const tools = { ...shared, clockAdvancer: engine.clockAdvancer, listeners, contact, requestSeconds };
    const document = serveApi(app, tools, authenticate);
    registerLostUpgrade(app);
    registerEventStream(app, { ...shared, listeners: registry }, authenticate);
    if (settings.mcp !== undefined) {
      registerMcp(app, shared, { load: settings.mcp, authenticate, version: settings.version });
    }
    registerPages(app, shared, settings, document);
    registerWellKnownPaths(app, shared, contact);
    app.register(async (scope) => leakReportRoute(scope, shared, leakKeys));
    adminRoutes(app, shared, adminToken);
  }
  /** The server of listeners; absent if the process serves no API. */
  const listening = servesApi ? createListenServer(app.server, shared, authenticate, registry) : undefined;
  limitSilentConnections(app.server, shared, trustOf(settings.trustedProxies ?? []));
  return {
    deployment,
    /** Where clients reach the platform: known once the server listens. */
    address,
    app,
    engine,
    retention: createRetention(shared),
    countFolder: createCountFolder(shared),
    transactions,
    listening,
    /** Written in the background of requests, and once more before the database closes. */
    writers: [...(limiters === undefined ? [] : [limiters]), usage, shared.requests, registry],
    adminToken,
    health,
  };
}

type Shared = Awaited<ReturnType<typeof createShared>>;

/** Rejects connections that would leave no file descriptors for anything else. */
function limitConnections(server: Server, max: number, log: Log): void {
  server.maxConnections = max;
  server.once("drop", () =>
    log.warn(
      { max },
      "client connections are rejected: as many are open as the limit of open files (ulimit -n) allows",
    ),
  );
}

/** What the parts share, created once. Each takes what it uses. */
async function createShared(
  { database, vault, clock, newId, lastTrusted }: Deployment,
  settings: PlatformSettings,
  { random, versions, baseUrl }: With<"random" | "versions" | "baseUrl">,
) {
  const { log, allowPrivateTargets: allowPrivate = false } = settings;
  const transactions = new TransactionWatch({ database, clock, log });
  const metrics = await createMetrics({ database, clock, version: settings.version }, transactions);
  const guard = createTargetGuard({
    allowPrivate,
    // Names that only the system knows (mDNS, this machine's own) are private.
    lookup: settings.lookup ?? createLookup({ system: allowPrivate ? systemLookup : undefined }),
  });
  const limiters = database.dialect === "postgres" ? sharedLimiters(database, log) : undefined;
  const createLimiter = limiters?.create ?? localLimiters(clock.elapsed);
  return {
    database,
    vault,
    clock,
    random,
    newId,
    clockTrust: new ClockTrust(clock, log, lastTrusted),
    time: new EnvironmentTime(clock, random),
    log,
    background: new BackgroundWork({ clock, log }, (task) => metrics.countFailure(task)),
    report(activity: Activity) {
      metrics.observe(activity);
      settings.report(activity);
    },
    baseUrl,
    guard,
    urlRules: { allowHttp: allowPrivate, blockReason: guard.blockReason, baseUrl },
    versions,
    metrics,
    transactions,
    requests: new RequestRecorder({ database, clock, log, vault }),
    limiters,
    createLimiter,
    clientAddress: createClientAddress(settings.trustedProxies ?? []),
    publicUrl: settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl),
    rateLimit: settings.rateLimits === undefined ? undefined : new RateLimit(createLimiter, settings.rateLimits),
  };
}

/** Accepts no more work, finishes what is in flight within its time limits, and closes the database. */
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

/** Lets requests in flight finish, for as long as a stop may take. Then closes their connections. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_SECONDS * 1000);
  await app.close();
  clearInterval(sweep);
  clearTimeout(cut);
}

/** File descriptors for the database, logs, name servers and Node itself. */
const RESERVED = 40;

/**
 * Divides the file descriptors that the process may open (`ulimit -n`) so that clients with many connections leave some
 * for deliveries; undefined if the limit is unknown. Deliveries of test clocks use what clients leave.
 */
function descriptorBudget(limits: DeliveryLimits) {
  const limit = openFileLimit();
  if (limit === undefined) return undefined;
  const spare = Math.max(8, limit - RESERVED);
  const quarter = Math.floor(spare / 4);
  const perProcess = Math.min(limits.perProcess, quarter);
  const allAdvances = Math.min(limits.allAdvances, quarter);
  return { deliveries: { perProcess, allAdvances }, connections: spare - perProcess };
}

/** Linux has the limit in /proc; elsewhere Node only has it in a report, which takes long to create. */
function openFileLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** Adds the routes for browsers and OAuth clients: HTML pages, endpoints with OAuth's JSON, and the documentation. */
function registerPages(
  app: FastifyInstance,
  shared: Shared,
  { dashboard, passwordCost, linkCommand }: PlatformSettings,
  document: () => Promise<TaggedFile>,
): void {
  const assets = dashboard === undefined ? undefined : loadAssets(dashboard);
  app.register(async (scope) => {
    await scope.register(fastifyCookie);
    takeForms(scope);
    scope.setErrorHandler((error, request, reply) => {
      const shown = asPageError(error);
      if (shown.status === 500) logFailure(shared.log, error, request);
      return sendPage(reply.headers(shown.headers), shown.status, errorPage(shown));
    });
    const browserSessions = new BrowserSessions(shared, linkCommand);
    const tools = { ...shared, browserSessions, passwords: new Passwords(shared.random, passwordCost) };
    signInRoutes(scope, tools);
    linkRoutes(scope, tools);
    accountRoutes(scope, tools);
    dashboardRoutes(scope, browserSessions, assets);
    authorizeRoutes(scope, tools);
    deviceRoutes(scope, tools);
  });
  app.register(async (scope) => tokenRoutes(scope, shared));
  const guides = dashboard === undefined ? undefined : join(dashboard, "guides");
  registerDocs(app, shared.baseUrl, { document, files: assets?.reference, guides });
}

function asPageError(error: unknown): PageError {
  if (error instanceof PageError) return error;
  if (error instanceof ParameterError) return new PageError(400, "The request is not valid", error.message);
  const { status, message, headers } = toApiError(error) ?? INTERNAL_ERROR;
  return new PageError(status, status < 500 ? "The request was rejected" : "Something went wrong", message, headers);
}
