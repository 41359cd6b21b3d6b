import { apiPath } from "../../../../client/base-url.ts";
import { ApiError, orIfFailed } from "../../../../client/errors.ts";
import type { Client } from "../../../../client/http.ts";
import { listItems } from "../../../../client/pages.ts";
import type { Environment } from "../../../../contract/environments.ts";
import type { Identity } from "../../../../contract/schemas/account.ts";
import type { ApiKey } from "../../../../contract/schemas/api-key.ts";
import type { Context } from "../../../context.ts";
import { UserError } from "../../../errors.ts";
import { type Connection, resolveConnection, resolveTarget } from "../../../settings/connection.ts";
import { confirmDestruction } from "../../../resource/verbs.ts";
import { type Finding, masked, type Match } from "./finding.ts";

/** Result of revoking a credential. */
export interface Outcome {
  revoked: boolean;
  description: string;
}

const REVOKED: Outcome = { revoked: true, description: "revoked" };

function notRevoked({ message }: Error): Outcome {
  return { revoked: false, description: `not revoked: ${message}` };
}

/** Revokes each distinct credential. Asks first if one is live. */
export async function revokeAll(
  context: Context,
  findings: readonly Finding[],
  yes: boolean,
): Promise<ReadonlyMap<string, Outcome>> {
  const distinct = new Map(findings.map((finding) => [finding.secret, finding]));
  const isLive = [...distinct.values()].some(({ environment }) => environment === "live");
  if (isLive) {
    const consequence = `${distinct.size} credentials, including live ones, will stop working immediately`;
    await confirmDestruction(context, { id: "revoke", consequence, yes, live: true });
  }
  const outcomes = new Map<string, Outcome>();
  const bar = context.output.progress(distinct.size, "Revoking");
  for (const [secret, match] of distinct) {
    outcomes.set(secret, await revokeOne(context, match));
    bar.advance();
  }
  bar.end();
  return outcomes;
}

async function revokeOne(context: Context, match: Match): Promise<Outcome> {
  switch (match.kind) {
    case "secret_key":
    case "restricted_key":
      return await revokeKey(context, match, match.environment ?? "sandbox");
    case "access_token":
    case "refresh_token":
      return await revokeToken(context, match);
    case "client_secret":
      return { revoked: false, description: "still valid: rotate it with `service apps rotate-secret`" };
  }
}

/** Revokes a key with the key itself, or with the profile's credential if the key has no permission to. */
async function revokeKey(context: Context, { secret }: Match, environment: Environment): Promise<Outcome> {
  const { baseUrl } = targetOf(context, environment);
  const own = await context.clientFor(baseUrl.value, secret);
  const revoking = async (): Promise<Outcome> => {
    const id = await idOf(own);
    if (id !== undefined && (await revoke(own, id))) return REVOKED;
    return await revokeByProfile(context, environment, { id, secret });
  };
  return await orIfFailed(revoking(), (error) => {
    if (!(error instanceof ApiError) || error.status !== 401) return notRevoked(error);
    return error.code === "invalid_credential"
      ? { revoked: false, description: `unknown at ${baseUrl.value}` }
      : { revoked: true, description: "already invalid" };
  });
}

async function revokeByProfile(
  context: Context,
  environment: Environment,
  { id, secret }: { id: string | undefined; secret: string },
): Promise<Outcome> {
  try {
    const client = await profileClient(context, environment);
    const found = client === undefined ? undefined : (id ?? (await findLike(client, secret)));
    if (client !== undefined && found !== undefined && (await revoke(client, found))) return REVOKED;
    return { revoked: false, description: "still valid: neither the key nor the profile has permission to revoke it" };
  } catch (error) {
    if (error instanceof UserError) return notRevoked(error);
    throw error;
  }
}

/** Returns the key's ID, or undefined if the key may not be used from here. */
async function idOf(client: Client): Promise<string | undefined> {
  try {
    const { body } = await client.request<Identity>({ method: "GET", path: "/v1/me" });
    return body.credential.id;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return undefined;
    throw error;
  }
}

/** Returns false if the credential has no permission to revoke the key. */
async function revoke(client: Client, id: string): Promise<boolean> {
  try {
    await client.request<ApiKey>({ method: "POST", path: apiPath`/v1/api_keys/${id}/revoke`, body: {} });
    return true;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return false;
    throw error;
  }
}

/** Returns the active key with that prefix and last characters. */
async function findLike(client: Client, secret: string): Promise<string | undefined> {
  for await (const { id, prefix, last4, revoked_at } of listItems<ApiKey>(client, "/v1/api_keys")) {
    if (revoked_at === null && `${prefix}…${last4}` === masked(secret)) return id;
  }
  return undefined;
}

/** The platform's response is the same for an unknown token, so the token is tried afterwards. */
async function revokeToken(context: Context, { secret, kind }: Match): Promise<Outcome> {
  const { authUrl, baseUrl } = targetOf(context, "sandbox");
  const { revokeTokens } = await import("../../../credentials/authorization-server.ts");
  if (!(await revokeTokens(context, authUrl.value, [secret]))) {
    return { revoked: false, description: `not revoked: cannot reach ${authUrl.value}` };
  }
  if (kind === "refresh_token") return { revoked: true, description: "revoked, if it was issued to this CLI" };
  const client = await context.clientFor(baseUrl.value, secret);
  const stillValid: Outcome = { revoked: false, description: "still valid: it was issued to another app" };
  const trying = client.request({ method: "GET", path: "/v1/me" }).then(() => stillValid);
  return await orIfFailed(trying, (error) =>
    error instanceof ApiError && error.status === 401 ? REVOKED : notRevoked(error),
  );
}

function targetOf({ globals, env, settings }: Context, environment: Environment) {
  return resolveTarget({ flags: { ...globals, live: environment === "live" }, env, settings });
}

/** Returns the profile's own credential for an environment, if there is one. */
async function profileClient(context: Context, environment: Environment): Promise<Client | undefined> {
  const { globals, env, settings } = context;
  let connection: Connection;
  try {
    const flags = { ...globals, live: environment === "live" };
    connection = resolveConnection({ flags, env, settings, keyFromStdin: undefined });
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
  if (connection.credential === undefined) return undefined;
  return await context.clientFor(connection.baseUrl.value, await context.credentialsOf(connection));
}
