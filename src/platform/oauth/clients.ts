import type { FastifyRequest } from "fastify";
import { timingSafeEqual } from "node:crypto";
import { ENVIRONMENTS, type Environment } from "../../contract/environments.ts";
import { ENVIRONMENT_PARAMETER } from "../../contract/scopes.ts";
import type { Parameters } from "../http/pages/parameters.ts";
import type { Database } from "../storage/database.ts";
import type { Vault } from "../security/vault.ts";
import type { With } from "../tools.ts";
import { type ClientRow, findClient } from "../storage/oauth-apps.ts";
import { invalidClient, OAuthError } from "./oauth-error.ts";

/** Returns the client with that ID, or undefined. Text that cannot be an ID never reaches the database. */
export function lookUpClient(database: Database, id: string | undefined): Promise<ClientRow | undefined> {
  return /^app_\w{1,40}$/.test(id ?? "") ? findClient(database, id!) : Promise.resolve(undefined);
}

type ClientTools = With<"database" | "vault">;

/**
 * Authenticates the client of a form by its secret, in the Authorization header or in the form but not in both, or by
 * its ID only if it is public. Throws OAuthError `invalid_client` or `invalid_request`.
 */
export async function authenticateClient(tools: ClientTools, request: FastifyRequest, form: Parameters) {
  const { database, vault } = tools;
  const header = basicCredentials(request);
  const secret = form.get("client_secret");
  if (header !== undefined && secret !== undefined) {
    throw new OAuthError("invalid_request", "The client authenticates in two ways: use one.");
  }
  const named = form.get("client_id");
  if (header !== undefined && named !== undefined && named !== header.id) {
    throw new OAuthError("invalid_request", "The header and the form identify different clients.");
  }
  const id = header?.id ?? named;
  if (id === undefined) throw invalidClient("client_id is missing.");
  const client = await lookUpClient(database, id);
  if (client === undefined || !proves(vault, client, header?.secret ?? secret)) {
    throw invalidClient("Client authentication failed.");
  }
  return client;
}

/**
 * Returns the environment of a grant, which the user sees and which never changes. The CLI's own app may request either
 * and gets the sandbox by default; a registered app belongs to one.
 */
export function environmentFor(client: ClientRow, parameters: Parameters): Environment {
  const requested = parameters.get(ENVIRONMENT_PARAMETER);
  const environment = ENVIRONMENTS.find((name) => name === requested);
  if (requested !== undefined && environment === undefined) {
    throw new OAuthError("invalid_request", `environment must be one of ${ENVIRONMENTS.join(", ")}`);
  }
  if (client.environment_name === null) return environment ?? "sandbox";
  if (environment !== undefined && environment !== client.environment_name) {
    throw new OAuthError("invalid_request", `The app is registered in the ${client.environment_name} environment.`);
  }
  return client.environment_name;
}

function proves(vault: Vault, client: ClientRow, secret: string | undefined): boolean {
  if (client.public === 1) return secret === undefined;
  if (secret === undefined || client.secret === null) return false;
  return timingSafeEqual(vault.digest(secret), client.secret);
}

function basicCredentials(request: FastifyRequest): { id: string; secret: string } | undefined {
  const sent = request.raw.headersDistinct["authorization"] ?? [];
  if (sent.length === 0) return undefined;
  if (sent.length > 1) throw new OAuthError("invalid_request", "Send one Authorization header.");
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(sent[0]!.trim()) ?? [];
  const text = Buffer.from(encoded ?? "", "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon === -1) throw invalidClient("The Authorization header must use the Basic scheme.");
  try {
    return { id: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) };
  } catch {
    throw invalidClient("The Authorization header contains a malformed escape.");
  }
}

/** RFC 6749 2.3.1: both parts are form-encoded. */
function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}
