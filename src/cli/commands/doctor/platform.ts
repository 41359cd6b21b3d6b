import { apiPath } from "../../../client/base-url.ts";
import { ApiError, NetworkError } from "../../../client/errors.ts";
import { allItems } from "../../../client/pages.ts";
import { LIMITS } from "../../../contract/limits.ts";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import type { Context } from "../../context.ts";
import { DEFAULT_BASE_URL } from "../../settings/connection.ts";
import { loginCommand } from "../../settings/profiles.ts";
import { formatSpan, relativeTime } from "../../terminal/time.ts";
import { ENDPOINTS, isSecretOld } from "../endpoints/view.ts";
import { examine, type Status } from "../status/examine.ts";
import { type Check, failed, type Finding, ok, skipped, warning } from "./finding.ts";
import { tryPort } from "./ports.ts";

const NOT_REACHED = "the platform is unreachable";
const SOON_MILLISECONDS = 14 * 86_400_000;

/** Checks of the platform that commands use. */
export function platformChecks(context: Context): Check[] {
  let examination: Promise<Status> | undefined;
  const status = (): Promise<Status> => (examination ??= examine(context));
  return [
    { id: "platform", title: "Platform", run: async () => checkPlatform(await status()) },
    { id: "version", title: "API version", run: async () => checkVersion(await status()) },
    { id: "clock", title: "Clock", run: async () => checkClock(await status()) },
    { id: "credential", title: "Credential", run: async () => await checkCredential(await status(), context) },
    { id: "signing_secrets", title: "Signing secrets", run: async () => await checkSecrets(await status(), context) },
    { id: "port", title: "Port 4010", run: () => checkPort(context) },
  ];
}

function checkPlatform({ platform }: Status): Finding {
  if (platform.reachable) return ok(`${platform.base_url} responds in ${platform.latency_ms} ms`);
  return failed(`${platform.base_url}: ${platform.problem}`, `The URL comes from: ${platform.base_url_source}.`);
}

function checkVersion({ platform, versions: { cli, api, supported } }: Status): Finding {
  if (!platform.reachable) return skipped(NOT_REACHED);
  if (supported === null) return skipped("sign in to see the platform's versions");
  const detail = `service ${cli} uses API ${api}`;
  if (supported.includes(api)) return ok(`${detail}, which the platform supports`);
  return failed(`${detail}; the platform supports ${supported.join(", ")}`, "Update the older of the two.");
}

function checkClock({ platform, clock_ahead_seconds: ahead }: Status): Finding {
  if (!platform.reachable) return skipped(NOT_REACHED);
  if (ahead === null) return skipped("the platform did not report its time");
  if (ahead === 0) return ok("in sync with the platform");
  const detail = `${formatSpan(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"} the platform`;
  const advice = "Synchronize the system clock: timedatectl set-ntp true";
  if (Math.abs(ahead) < LIMITS.signatureToleranceSeconds) return warning(detail, advice);
  return failed(`${detail}: signatures will be rejected as stale`, advice);
}

async function checkCredential({ credential, environment, profile }: Status, context: Context): Promise<Finding> {
  const { state, source, problem, scopes, type } = credential;
  const flag = environment === "live" ? " --live" : "";
  const signIn = `Sign in: ${loginCommand({ profile: profile.name, environment })}`;
  if (state === "missing")
    return warning(`none for the ${environment} environment`, `${signIn}, or set SERVICE_API_KEY.`);
  const name = `${type === "oauth" ? "Browser sign-in" : "API key"} from ${source}`;
  if (state === "refused") return failed(`${name} was rejected: ${problem}`, signIn);
  if (state === "unknown") return skipped(problem ?? NOT_REACHED);
  const expiry = type === "oauth" ? null : await expiryOf(credential, context);
  const may = `${name} is valid, with ${scopes?.length} ${scopes?.length === 1 ? "scope" : "scopes"}`;
  if (expiry === null) return ok(type === "oauth" ? `${may}; renewed automatically` : `${may}; does not expire`);
  if (expiry === undefined) return ok(may);
  const detail = `${may}; expires ${relativeTime(expiry, context.now())}`;
  if (Date.parse(expiry) - context.now() > SOON_MILLISECONDS) return ok(detail);
  return warning(detail, `${shellCommand`Replace it: service keys roll ${credential.id ?? ""}`}${flag}`);
}

/** Returns when an API key expires: null for never, undefined if the key may not read itself. */
async function expiryOf({ id }: Status["credential"], context: Context): Promise<string | null | undefined> {
  const client = await context.client();
  try {
    const { body } = await client.request<ApiKey>({ method: "GET", path: apiPath`/v1/api_keys/${id ?? ""}` });
    return body.expires_at;
  } catch (error) {
    if (error instanceof ApiError || error instanceof NetworkError) return undefined;
    throw error;
  }
}

async function checkSecrets({ credential }: Status, context: Context): Promise<Finding> {
  if (credential.state !== "works") return skipped("no valid credential");
  let endpoints: WebhookEndpoint[];
  try {
    endpoints = await allItems<WebhookEndpoint>(await context.client(), ENDPOINTS.path);
  } catch (error) {
    if (error instanceof ApiError || error instanceof NetworkError) return skipped(error.message);
    throw error;
  }
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

async function checkPort(context: Context): Promise<Finding> {
  const problem = await tryPort(Number(new URL(DEFAULT_BASE_URL).port));
  if (problem === undefined) return ok("free");
  const advice = "Choose another port: service serve --port 0";
  if (problem !== "EADDRINUSE") return failed(`cannot be opened (${problem})`, advice);
  try {
    const client = await context.clientFor(DEFAULT_BASE_URL, undefined);
    const { body } = await client.request<{ status?: string }>({ method: "GET", path: "/healthz" });
    if (body.status === "ok") return ok("used by a running platform");
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof NetworkError)) throw error;
  }
  return warning("used by another program", advice);
}
