import { createServer } from "node:net";
import { apiPath } from "../../../client/base-url.ts";
import { orIfFailed } from "../../../client/errors.ts";
import { allItems } from "../../../client/pages.ts";
import { LIMITS } from "../../../contract/limits.ts";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { LATEST_VERSION } from "../../../contract/versions.ts";
import { pathOf } from "../../../contract/resources.ts";
import { DEFAULT_BASE_URL, shellCommand } from "../../../contract/shell-command.ts";
import { counted } from "../../../contract/words.ts";
import { isLoopback, portOf } from "../../../network/connect-options.ts";
import type { Context } from "../../context.ts";
import { EXIT_CODES } from "../../errors.ts";
import { startHint } from "../../settings/connection.ts";
import { loginCommand } from "../../settings/profiles.ts";
import { formatSpan, relativeTime } from "../../terminal/time.ts";
import { ENDPOINTS, isSecretOld } from "../../resource/endpoint-view.ts";
import type { Examination } from "./examine.ts";
import { type Check, failed, type Finding, ok, skipped, warning } from "./finding.ts";

export const NOT_REACHED = "the platform is unreachable";
const SOON_MILLISECONDS = 14 * 86_400_000;

/** Checks of what every command needs. */
export function connectionChecks(examination: Promise<Examination>, context: Context): Check[] {
  return [
    { id: "platform", title: "Platform", run: async () => checkPlatform(await examination) },
    { id: "version", title: "API version", run: async () => checkVersion(await examination, context) },
    { id: "clock", title: "Clock", run: async () => checkClock(await examination) },
    { id: "credential", title: "Credential", run: async () => await checkCredential(await examination, context) },
  ];
}

/** Checks of webhook endpoints, and of the platform's port. */
export function webhookChecks(examination: Promise<Examination>, context: Context): Check[] {
  return [
    {
      id: "signing_secrets",
      title: "Signing secrets",
      run: async () => await checkSecrets(await examination, context),
    },
    { id: "port", title: "Port", run: async () => await checkPort(await examination, context) },
  ];
}

function checkPlatform({ baseUrl, authUrl, platform }: Examination): Finding {
  if (platform.problem !== undefined)
    return failed(
      `${baseUrl.value}: ${platform.problem}`,
      `${platform.hint ?? `${startHint({ baseUrl })}.`} ${baseUrl.source === "flag" ? "" : `${baseUrl.source === "default" ? "This is the default URL" : `The URL is from ${baseUrl.name}`}; to use another, pass --base-url.`}`.trim(),
      EXIT_CODES.unreachable,
    );
  const signIn = authUrl.value === baseUrl.value ? "" : `; sign-in at ${authUrl.value} (from ${authUrl.name})`;
  return ok(`${baseUrl.value} responds in ${platform.latencyMs.toFixed(1)} ms (URL from ${baseUrl.name})${signIn}`);
}

function checkVersion({ platform, versions }: Examination, { version }: Context): Finding {
  if (platform.problem !== undefined) return skipped(NOT_REACHED);
  if (versions === undefined) return skipped("sign in to see the platform's versions");
  if ("problem" in versions) return skipped(versions.problem);
  const supported = versions.body.data;
  const detail = `service ${version} uses API ${LATEST_VERSION}`;
  if (supported.includes(LATEST_VERSION)) return ok(`${detail}, which the platform supports`);
  return failed(`${detail}; the platform supports ${supported.join(", ")}`, "Update the older of the two.");
}

const CLOCK_ADVICE = `See the response: service api ${pathOf("test_clock")}`;

function checkClock({ platform, testClock }: Examination): Finding {
  const { problem, clockAheadSeconds: ahead } = platform;
  if (problem !== undefined) return skipped(NOT_REACHED);
  if (ahead === undefined) return skipped("the platform did not report its time");
  const sandbox =
    testClock === undefined || "problem" in testClock || testClock.body.offset_seconds === 0
      ? ""
      : `; the sandbox's test clock is ${formatSpan(testClock.body.offset_seconds)} ahead`;
  const difference = `${formatSpan(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"}`;
  const detail = `${ahead === 0 ? "in sync with" : difference} the platform${sandbox}`;
  if (testClock !== undefined && "problem" in testClock) {
    return warning(`${detail}; the sandbox's test clock cannot be read: ${testClock.problem}`, CLOCK_ADVICE);
  }
  if (ahead === 0) return ok(detail);
  const advice = "Synchronize the system clock: timedatectl set-ntp true";
  if (Math.abs(ahead) < LIMITS.signatureToleranceSeconds) return warning(detail, advice);
  return failed(`${detail}: signatures will be rejected as stale`, advice);
}

async function checkCredential(
  { credential, environment, profile, baseUrl }: Examination,
  context: Context,
): Promise<Finding> {
  const { state, source, problem, hint, scopes, type } = credential;
  const { notSignedIn } = EXIT_CODES;
  if (state === "missing") {
    const login = loginCommand({ profile: profile.value, environment, baseUrl });
    return failed(`none for the ${environment} environment`, `Sign in: ${login}, or set SERVICE_API_KEY.`, notSignedIn);
  }
  const name = `${type === "oauth" ? "Browser sign-in" : "API key"} from ${source}`;
  if (state === "refused")
    return failed(source === undefined ? problem! : `${name} was rejected: ${problem}`, hint, notSignedIn);
  if (state === "unknown") {
    return problem === undefined ? skipped(NOT_REACHED) : failed(`${name} could not be checked: ${problem}`, hint);
  }
  const expiry = type === "oauth" ? null : await expiryOf(credential, context);
  const may = `${name} is valid${environment === "live" ? " in live mode" : ""}, with ${counted(scopes!.length, "scope")}`;
  if (expiry === null) return ok(type === "oauth" ? `${may}; renewed automatically` : `${may}; does not expire`);
  if (expiry === undefined) return ok(may);
  const detail = `${may}; expires ${relativeTime(expiry, context.now())}`;
  if (Date.parse(expiry) - context.now() > SOON_MILLISECONDS) return ok(detail);
  return warning(detail, shellCommand`Replace it: service keys rotate ${credential.id ?? ""}`);
}

/** Returns when an API key expires: null for never, undefined if the key may not read itself. */
async function expiryOf({ id }: Examination["credential"], context: Context): Promise<string | null | undefined> {
  const reading = context.request<ApiKey>({ method: "GET", path: apiPath`/v1/api_keys/${id ?? ""}` });
  return (await orIfFailed(reading, () => undefined))?.expires_at;
}

async function checkSecrets({ credential }: Examination, context: Context): Promise<Finding> {
  if (credential.state !== "works") return skipped("no valid credential");
  const reading = allItems<WebhookEndpoint>(await context.client(), ENDPOINTS.path);
  const endpoints = await orIfFailed(reading, ({ message }) => skipped(message));
  if (!Array.isArray(endpoints)) return endpoints;
  const old = endpoints.filter((endpoint) => isSecretOld(endpoint, context.now()));
  if (old.length > 0) {
    const ids = old.map(({ id }) => id);
    return warning(
      `older than ${LIMITS.secretAgeDays} days: ${ids.join(", ")}`,
      shellCommand`Replace each: service endpoints rotate-secret ${ids[0]!}`,
    );
  }
  if (endpoints.length === 0) return ok("no webhook endpoints");
  return ok(
    `${endpoints.length === 1 ? "the only one is" : `all ${endpoints.length} are`} less than ${LIMITS.secretAgeDays} days old`,
  );
}

/** Checks the port of the platform that a command would start here. */
async function checkPort({ baseUrl, platform }: Examination, context: Context): Promise<Finding> {
  const isMissing = baseUrl.source === "project" || platform.problem !== undefined;
  const isOwn = isMissing && isLoopback(new URL(baseUrl.value).hostname);
  const url = new URL(isOwn ? baseUrl.value : DEFAULT_BASE_URL);
  const port = portOf(url);
  const problem = await listenProblem(port);
  if (problem === undefined) return ok(`${port} is free`);
  const isOfProject = isOwn && baseUrl.source === "project";
  const advice = isOfProject
    ? "Set another platform.port in service.yaml, or auto"
    : "Choose another port: service serve --port 0";
  if (problem !== "EADDRINUSE") return failed(`${port} cannot be opened (${problem})`, advice);
  const client = await context.clientFor(url.origin, undefined);
  const asking = client.request<{ status?: string }>({ method: "GET", path: "/healthz" });
  const response = await orIfFailed(asking, () => undefined);
  if (response?.body.status === "ok") return ok(`${port} is used by a running platform`);
  return warning(`${port} is used by another program`, advice);
}

/** Checks whether this process could listen on a port of this machine. Returns the error's code if not. */
function listenProblem(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
