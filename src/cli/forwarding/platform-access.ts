import type { Agent } from "node:http";
import { hostname } from "node:os";
import { parseBaseUrl } from "../../client/base-url.ts";
import type { CredentialSource } from "../../client/http.ts";
import { proxyFor } from "../../client/proxy-settings.ts";
import { ListenError } from "../../relay/disconnection.ts";
import type { Report } from "../../relay/report.ts";
import { Run, type RunOptions } from "../../relay/run.ts";
import { proxiesOf } from "../connect.ts";
import type { Context } from "../context.ts";
import { rejectedCredentialHint, startHint } from "../settings/connection.ts";
import { EXIT_CODES, type ExitCode, NotSignedInError, SCOPE_ADVICE, UsageError, UserError } from "../errors.ts";
import { capitalized } from "../../contract/words.ts";

export type PlatformAccess = Awaited<ReturnType<typeof accessPlatform>>;

/**
 * Returns where to listen, and the credential. Throws UsageError for live mode, NotSignedInError without a
 * credential.
 */
export async function accessPlatform(context: Context) {
  if (context.globals.live) {
    throw new UsageError("Listening is available in the sandbox only", { hint: "Remove --live." });
  }
  const connection = await context.connection();
  const { profile, credential } = connection;
  const baseUrl = parseBaseUrl(connection.baseUrl.value, { insecure: context.globals.insecure });
  const source = await context.credentialsOf(connection);
  const isStored = credential?.source === "profile";
  return {
    baseUrl,
    authorization: (rejected?: string) => bearer(source, rejected),
    agent: await agentFor(baseUrl, context),
    device: hostname(),
    /** The source of the credential: `SERVICE_API_KEY`, `profile work`. */
    credentialSource: credential?.name ?? "",
    credentialHint: rejectedCredentialHint(connection),
    startHint: startHint(connection),
    /** Identifies this platform and credential. A stored token changes with each renewal; a key is a secret: only its hash is stored. */
    identity: [connection.baseUrl.value, isStored ? `profile ${profile.value}` : JSON.stringify(credential?.value)],
  };
}

/** Connects through the proxy that the environment names; undefined for a direct connection. */
async function agentFor(baseUrl: URL, context: Context): Promise<Agent | undefined> {
  const proxy = proxyFor(baseUrl, proxiesOf(context));
  if (proxy === undefined) return undefined;
  const { TunnelAgent } = await import("../../client/proxy.ts");
  return new TunnelAgent(proxy, baseUrl.protocol);
}

const SCHEME = "Bearer ";

/** Each connection gets a fresh token, because an access token expires long before a run. */
async function bearer(credential: string | CredentialSource, rejected: string | undefined): Promise<string> {
  if (typeof credential === "string") return SCHEME + credential;
  try {
    return SCHEME + (await (rejected ? credential.renewed(rejected.slice(SCHEME.length)) : credential.current()));
  } catch (error) {
    // Later connections would fail for the same reason.
    if (error instanceof NotSignedInError) throw new ListenError("unauthorized", error.message);
    throw error;
  }
}

/** A script should not hang if there is no platform. */
const TIMEOUT_MS = 10_000;

/** Requests the signing secret of this machine. */
export async function fetchListenSecret(platform: PlatformAccess, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  let secret: string | undefined;
  const options = { maxDowntimeMs: TIMEOUT_MS, hasWaited: true, signal };
  await listenBriefly(platform, options, (report, stop) => {
    if (report.event !== "ready") return;
    secret = report.secret;
    stop();
  });
  if (secret === undefined) throw signal.reason;
  return secret;
}

/** Listens from now on until `take`, which gets every report, calls its second argument, or until the signal. */
export async function listenBriefly(
  platform: PlatformAccess,
  { signal, hasWaited, ...options }: Partial<RunOptions> & { signal: AbortSignal; hasWaited: boolean },
  take: (report: Report, stop: () => void) => void,
): Promise<void> {
  const stop = (): void => void run.stop();
  const run = new Run({ ...platform, ...options, after: "now", report: (report) => take(report, stop) });
  signal.addEventListener("abort", stop, { once: true });
  run.start();
  const { error } = await run.ended;
  signal.removeEventListener("abort", stop);
  if (error !== undefined) throw explainListenError(error, platform, hasWaited);
}

function adviceOn({ status, code, request_id: request }: NonNullable<ListenError["problem"]>): string {
  const about = `  ${status} ${code}, request ${request}`;
  return code === "insufficient_scope" ? `${about}\n${SCOPE_ADVICE}` : about;
}

const EXIT_BY_CODE: Partial<Record<ListenError["code"], ExitCode>> = {
  unauthorized: EXIT_CODES.notSignedIn,
  forbidden: EXIT_CODES.notAllowed,
  unreachable: EXIT_CODES.unreachable,
  downtime: EXIT_CODES.unreachable,
  protocol: EXIT_CODES.unreachable,
};

/** Returns why listening ended, and how to fix it. `hasWaited`: it waited for the platform to start. */
export function explainListenError(
  error: ListenError,
  { credentialHint, startHint: start }: Pick<PlatformAccess, "credentialHint" | "startHint">,
  hasWaited: boolean,
): UserError {
  const hints: Partial<Record<ListenError["code"], string>> = {
    unauthorized: credentialHint,
    unreachable: `${start}${hasWaited ? "" : ", or pass --wait"}.`,
    downtime: `${start}.`,
    protocol:
      "Another server responded, or the platform has another version: check --base-url, and run `service doctor`.",
  };
  const { problem } = error;
  return new UserError(capitalized(problem?.detail ?? error.message), {
    code: problem?.code ?? error.code,
    exitCode: EXIT_BY_CODE[error.code] ?? EXIT_CODES.failed,
    hint: hints[error.code] ?? (problem === undefined ? undefined : adviceOn(problem)),
    cause: error,
  });
}
