import { ApiError, NetworkError, orIfFailed } from "../../../client/errors.ts";
import type { Client } from "../../../client/http.ts";
import { pathOf } from "../../../contract/resources.ts";
import type { TestClock } from "../../../contract/schemas/sandbox.ts";
import type { Identity } from "../../../contract/schemas/account.ts";
import type { Scope } from "../../../contract/scopes.ts";
import type { Context } from "../../context.ts";
import { NotSignedInError, UserError } from "../../errors.ts";
import { type Connection, type ConnectionTarget, resolveTarget } from "../../settings/connection.ts";

/** The state of everything that a command needs. */
export type Examination = Awaited<ReturnType<typeof examine>>;

type Readable<Body> = { body: Body } | { problem: string } | undefined;

interface Reachability {
  /** Why the platform is unreachable. */
  problem?: string;
  /** What to do about it, unless starting it. */
  hint?: string | undefined;
  /** The fastest of a few requests over an open connection. */
  latencyMs: number;
  /** How far this machine's clock is ahead; undefined if the response had no date. */
  clockAheadSeconds: number | undefined;
}

interface CredentialState {
  state: "works" | "refused" | "missing" | "unknown";
  type?: "api_key" | "oauth";
  source?: string;
  problem?: string;
  /** What to do about a credential that is refused. */
  hint?: string | undefined;
  /** ID and scopes of the key or token, if it works. */
  id?: string;
  scopes?: readonly Scope[];
}

const PROBES = 3;

/** Checks everything that a command needs. Failures become part of the result. */
export async function examine(context: Context) {
  const { baseUrl, authUrl, profile, environment, credential: stored } = await connectionOf(context);
  const platform = await reach(context, await context.clientFor(baseUrl.value, undefined));
  const credential = await tryCredential(context, stored, platform.problem === undefined);
  const works = credential.state === "works";
  return {
    baseUrl,
    authUrl,
    profile,
    environment,
    platform,
    versions: works ? await read<{ data: readonly string[] }>("/v1/versions", context) : undefined,
    testClock: works && environment === "sandbox" ? await read<TestClock>(pathOf("test_clock"), context) : undefined,
    credential,
  };
}

/** Returns the connection. A credential that is for another URL is an error in its place. */
export async function connectionOf(
  context: Context,
): Promise<ConnectionTarget & { credential: Connection["credential"] | UserError }> {
  try {
    return await context.connection();
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "other_origin") throw error;
    const { globals: flags, env, settings } = context;
    return { ...resolveTarget({ flags, env, settings, project: await context.project() }), credential: error };
  }
}

async function reach(context: Context, client: Client): Promise<Reachability> {
  const reached: Reachability = { latencyMs: Infinity, clockAheadSeconds: undefined };
  const probe = async (): Promise<Reachability> => {
    for (let i = 0; i < PROBES; i++) {
      const started = performance.now();
      const { headers } = await client.request({ method: "GET", path: "/healthz" });
      const took = performance.now() - started;
      if (took < reached.latencyMs) reached.clockAheadSeconds = clockAheadOf(headers["date"], context.now() - took / 2);
      reached.latencyMs = Math.min(reached.latencyMs, took);
    }
    return reached;
  };
  return await orIfFailed(probe(), (error) => {
    const isSilent = error instanceof NetworkError && error.failure === "refused";
    return { ...reached, problem: error.message, hint: isSilent ? undefined : error.hint };
  });
}

/** The header has a resolution of seconds: half of one is added, and less than two are ignored. */
function clockAheadOf(date: unknown, now: number): number | undefined {
  const there = Date.parse(String(date)) + 500;
  if (Number.isNaN(there)) return undefined;
  const seconds = Math.round((now - there) / 1000);
  return Math.abs(seconds) < 2 ? 0 : seconds;
}

async function tryCredential(
  context: Context,
  stored: Connection["credential"] | UserError,
  reachable: boolean,
): Promise<CredentialState> {
  if (stored === undefined) return { state: "missing" };
  if (stored instanceof UserError) return { state: "refused", problem: stored.message, hint: stored.hint };
  const named = { type: stored.value.type, source: stored.name };
  if (!reachable) return { state: "unknown", ...named };
  try {
    const body = await context.request<Identity>({ method: "GET", path: "/v1/me" });
    return { state: "works", ...named, id: body.credential.id, scopes: body.scopes };
  } catch (error) {
    if (error instanceof NotSignedInError || (error instanceof ApiError && error.status === 401)) {
      return { state: "refused", ...named, problem: error.message, hint: error.hint };
    }
    if (!(error instanceof ApiError) && !(error instanceof NetworkError)) throw error;
    return { state: "unknown", ...named, problem: error.message };
  }
}

/** Returns undefined if the credential may not read it. */
async function read<Body>(path: string, context: Context): Promise<Readable<Body>> {
  const reading = context.request<Body>({ method: "GET", path }).then((body) => ({ body }));
  return await orIfFailed(reading, (error) => {
    const isMissing = error instanceof ApiError && (error.status === 403 || error.status === 404);
    return isMissing ? undefined : { problem: error.message };
  });
}
