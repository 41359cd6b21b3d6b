import { ApiError, NetworkError } from "../../../client/errors.ts";
import type { Client } from "../../../client/http.ts";
import type { Environment } from "../../../contract/environments.ts";
import { pathOf } from "../../../contract/resources.ts";
import type { TestClock } from "../../../contract/schemas/test-clock.ts";
import type { Identity } from "../../../contract/schemas/account.ts";
import type { Scope } from "../../../contract/scopes.ts";
import { LATEST_VERSION } from "../../../contract/versions.ts";
import type { Context } from "../../context.ts";
import { NotSignedInError } from "../../errors.ts";
import type { Connection, Sourced } from "../../settings/connection.ts";

/** JSON of `service status`. */
export interface Status {
  platform: Reachability & { base_url: string; base_url_source: string };
  auth: { auth_url: string; auth_url_source: string };
  versions: { cli: string; api: string; supported: string[] | null };
  /** How far this machine's clock is ahead, in seconds; null if the response had no date. */
  clock_ahead_seconds: number | null;
  /** How far the sandbox's test clock is ahead of real time; null in live and if it cannot be read. */
  test_clock_offset_seconds: number | null;
  profile: { name: string; source: string };
  environment: Environment;
  credential: CredentialState;
  account: { id: string; name: string } | null;
}

interface Reachability {
  reachable: boolean;
  /** The fastest of a few requests over an open connection. */
  latency_ms: number | null;
  problem: string | null;
}

interface CredentialState {
  state: "works" | "refused" | "missing" | "unknown";
  type: "api_key" | "oauth" | null;
  source: string | null;
  /** When the access token expires. */
  expires_at: string | null;
  problem: string | null;
  /** Owner of the key or token, if it works. */
  id: string | null;
  scopes: Scope[] | null;
}

const PROBES = 3;

/** Checks everything that a command needs. Failures become part of the result. */
export async function examine(context: Context): Promise<Status> {
  const connection = await context.connection();
  const { baseUrl, authUrl, profile, environment } = connection;
  const probe = await context.clientFor(baseUrl.value, undefined);
  const { clockAhead, ...reachability } = await reach(context, probe);
  const { identity, credential } = await tryCredential(context, connection, reachability.reachable);
  return {
    platform: { base_url: baseUrl.value, base_url_source: baseUrl.name, ...reachability },
    auth: { auth_url: authUrl.value, auth_url_source: authUrl.name },
    versions: {
      cli: context.version,
      api: LATEST_VERSION,
      supported: credential.state === "works" ? await supportedVersions(context) : null,
    },
    clock_ahead_seconds: clockAhead,
    test_clock_offset_seconds:
      credential.state === "works" && environment === "sandbox" ? await testClockOffset(context) : null,
    profile: { name: profile.value, source: profile.name },
    environment,
    credential,
    account: identity?.account ?? null,
  };
}

async function reach(context: Context, client: Client): Promise<Reachability & { clockAhead: number | null }> {
  let latency = Infinity;
  let clockAhead: number | null = null;
  try {
    for (let i = 0; i < PROBES; i++) {
      const started = performance.now();
      const { headers } = await client.request({ method: "GET", path: "/healthz" });
      const took = performance.now() - started;
      if (took < latency) clockAhead = clockAheadOf(headers["date"], context.now() - took / 2);
      latency = Math.min(latency, took);
    }
    return { reachable: true, latency_ms: Math.round(latency * 10) / 10, problem: null, clockAhead };
  } catch (error) {
    if (!(error instanceof NetworkError) && !(error instanceof ApiError)) throw error;
    const problem = error instanceof NetworkError ? `${error.message}. ${error.hint}` : error.message;
    return { reachable: false, latency_ms: null, problem, clockAhead };
  }
}

/** The header has a resolution of seconds: half of one is added, and less than two are ignored. */
function clockAheadOf(date: unknown, now: number): number | null {
  const there = Date.parse(String(date)) + 500;
  if (Number.isNaN(there)) return null;
  const seconds = Math.round((now - there) / 1000);
  return Math.abs(seconds) < 2 ? 0 : seconds;
}

async function tryCredential(
  context: Context,
  { credential }: Connection,
  reachable: boolean,
): Promise<{ identity: Identity | undefined; credential: CredentialState }> {
  if (credential === undefined) return { identity: undefined, credential: stateOf("missing", credential) };
  if (!reachable) return { identity: undefined, credential: stateOf("unknown", credential) };
  try {
    const client = await context.client();
    const { body: identity } = await client.request<Identity>({ method: "GET", path: "/v1/me" });
    const { scopes, credential: own } = identity;
    return { identity, credential: { ...stateOf("works", credential), id: own.id, scopes } };
  } catch (error) {
    const isRejected = error instanceof NotSignedInError || (error instanceof ApiError && error.status === 401);
    if (!isRejected && !(error instanceof ApiError) && !(error instanceof NetworkError)) throw error;
    return { identity: undefined, credential: stateOf(isRejected ? "refused" : "unknown", credential, error) };
  }
}

function stateOf(
  state: CredentialState["state"],
  credential: Sourced<NonNullable<Connection["credential"]>["value"]> | undefined,
  error?: Error,
): CredentialState {
  const value = credential?.value;
  return {
    state,
    type: value?.type ?? null,
    source: credential?.name ?? null,
    expires_at: value?.type === "oauth" ? value.expires_at : null,
    problem: error?.message ?? null,
    id: null,
    scopes: null,
  };
}

async function supportedVersions(context: Context): Promise<string[] | null> {
  return (await read<{ data: string[] }>("/v1/versions", context))?.data ?? null;
}

async function testClockOffset(context: Context): Promise<number | null> {
  return (await read<TestClock>(pathOf("test_clock"), context))?.offset_seconds ?? null;
}

/** Returns null if it cannot be read: a restricted key may lack the scope. */
async function read<Body>(path: string, context: Context): Promise<Body | null> {
  const client = await context.client();
  try {
    return (await client.request<Body>({ method: "GET", path })).body;
  } catch (error) {
    if (error instanceof ApiError || error instanceof NetworkError) return null;
    throw error;
  }
}
