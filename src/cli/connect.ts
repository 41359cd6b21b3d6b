import { parseBaseUrl } from "../client/base-url.ts";
import { NetworkError } from "../client/errors.ts";
import {
  type ApiRequest,
  type Client,
  type ClientOptions,
  createClient,
  type CredentialSource,
} from "../client/http.ts";
import type { ProxySettings } from "../client/proxy-settings.ts";
import { valueAt } from "../contract/json.ts";
import { showRequests } from "./dry-run.ts";
import { EXIT_CODES, SilentExit, UserError } from "./errors.ts";
import type { GlobalOptions } from "./global-options.ts";
import type { Output } from "./terminal/output.ts";

/** The part of a command's context that its requests use. */
export interface RequestContext {
  readonly version: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly globals: GlobalOptions;
  readonly output: Output;
  readonly debug: boolean;
  readonly signal: AbortSignal;
  random(): number;
  uuid(): string;
}

/** A client whose waits show a spinner, and whose attempts are printed with --debug. */
export function connect(
  context: RequestContext,
  baseUrl: string,
  credential: string | CredentialSource | undefined,
  signal: AbortSignal,
): Client {
  if (typeof credential === "string") assertSendable(credential);
  const { output } = context;
  let retried: string[] = [];
  const client = createClient({
    baseUrl: parseBaseUrl(baseUrl, { insecure: context.globals.insecure }),
    credential,
    userAgent: userAgentOf(context),
    signal,
    proxies: proxiesOf(context),
    random: () => context.random(),
    uuid: () => context.uuid(),
    onRetry({ reason, milliseconds, rateLimit }) {
      if (rateLimit === undefined) retried.push(reason);
      output.waiting(reason, milliseconds, rateLimit);
    },
    ...tracingOf(context),
  });
  if (context.globals.dryRun) return dryRunClient(client, output);
  return {
    baseUrl: client.baseUrl,
    async request<Body>(request: ApiRequest) {
      const send = () => sendSafely<Body>(client, request, () => context.uuid());
      if (request.isBackground === true) return await send();
      const response = await output.spinner.during(`Waiting for ${client.baseUrl.host}`, send);
      if (isChange(request)) output.changed(idOf(response.body) ?? `${request.method} ${request.path}`);
      const [reason] = retried;
      if (reason !== undefined && !output.json) output.notice(`Retried ${inTimes(retried.length)}: ${reason}`);
      retried = [];
      return response;
    },
  };
}

/** A bulk operation is first planned, by a POST that changes nothing. */
function isChange({ method, body }: ApiRequest): boolean {
  return method !== "GET" && valueAt(body, "dry_run") !== true;
}

/** The ID of an object, or the name of one that has no other. */
function idOf(body: unknown): string | undefined {
  const id = valueAt(body, "id") ?? valueAt(body, "name");
  return typeof id === "string" ? id : undefined;
}

function inTimes(retries: number): string {
  return retries === 1 ? "once" : retries === 2 ? "twice" : `${retries} times`;
}

/** Sends reads as usual, and ends the command at the first request that would make a change. */
function dryRunClient(client: Client, output: Output): Client {
  let shown: Promise<void> | undefined;
  return {
    baseUrl: client.baseUrl,
    async request(call) {
      if (call.method === "GET") return await client.request(call);
      // Concurrent work shows only its first request.
      shown ??= showRequests(output, client.baseUrl, [call]);
      await shown;
      throw new SilentExit(EXIT_CODES.ok);
    },
  };
}

/** Sends a request. A POST whose response was lost may have taken effect: the error says how to repeat it safely. */
async function sendSafely<Body>(client: Client, request: ApiRequest, uuid: () => string) {
  if (request.method !== "POST") return await client.request<Body>(request);
  const idempotencyKey = request.idempotencyKey ?? uuid();
  try {
    return await client.request<Body>({ ...request, idempotencyKey });
  } catch (error) {
    if (!(error instanceof NetworkError) || !MAY_HAVE_WORKED.has(error.failure)) throw error;
    // Commands with the flag pass the member, even if it is undefined.
    const next =
      "idempotencyKey" in request
        ? `To repeat it safely, add --idempotency-key ${idempotencyKey}`
        : "Check its effect before you repeat it.";
    const { failure, message, passing, cause } = error;
    throw new NetworkError(failure, message, `The request may have taken effect. ${next}`, { passing, cause });
  }
}

const MAY_HAVE_WORKED: ReadonlySet<string> = new Set(["connection_lost", "timed_out"]);

/** Throws UserError for a key that no header can contain. */
function assertSendable(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key)) return;
  throw new UserError("The API key contains invalid characters", {
    hint: "Copy the whole key again, without quotes or spaces.",
    exitCode: EXIT_CODES.notSignedIn,
    code: "malformed_key",
  });
}

/** Shows each attempt of a request with --debug. */
export function tracingOf({ debug, output }: RequestContext): Pick<ClientOptions, "onAttempt"> {
  if (!debug) return {};
  return {
    onAttempt: ({ method, url, outcome, milliseconds }) =>
      output.trace(`${method} ${url} → ${outcome} (${Math.round(milliseconds)} ms)`),
  };
}

/** The proxy variables of the environment, by their lower-case names. */
export function proxiesOf({ env }: RequestContext): ProxySettings {
  return {
    http_proxy: env["http_proxy"] ?? env["HTTP_PROXY"],
    https_proxy: env["https_proxy"] ?? env["HTTPS_PROXY"],
    no_proxy: env["no_proxy"] ?? env["NO_PROXY"],
  };
}

export function userAgentOf({ version, platform }: RequestContext): string {
  return `service-cli/${version} (${platform}) node/${process.versions.node}`;
}
