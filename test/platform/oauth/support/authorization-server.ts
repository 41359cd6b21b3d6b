import { createHash, randomBytes } from "node:crypto";

/** An authorization server under test: ours or another implementation. */
export interface AuthorizationServer {
  name: string;
  issuer: string;
  endpoints: { authorize: string; token: string; revoke: string; device: string };
  /** A public app on the loopback addresses, registered without a port. */
  publicApp: { id: string; redirectUri: string };
  /** A confidential app with this single redirect URI. */
  confidentialApp: { id: string; secret: string; redirectUri: string };
  /** Two scopes that it supports. */
  scopes: readonly [string, string];
  /** Opens the URL like a user: signs in if needed, and approves or denies the request. */
  authorize(url: URL, decision?: "approve" | "deny"): Promise<Outcome>;
  /** Opens the URL like a user, up to the first page or redirect without a prompt. */
  open(url: URL): Promise<Outcome>;
  /** Enters a device code like a user, then approves or denies it. Returns false if the code was rejected. */
  decideDevice(userCode: string, decision: "approve" | "deny"): Promise<boolean>;
  /** Returns true if the access token is valid. */
  works(accessToken: string): Promise<boolean>;
  /** Advances the server's clock. */
  advance(milliseconds: number): void;
}

/** The result of an authorization request: a redirect to the app, or a page. */
export interface Outcome {
  /** The redirect URL with the response. */
  redirect: URL | undefined;
  status: number;
  headers: Headers;
}

export type AppName = "public" | "confidential";

export interface Proof {
  verifier: string;
  challenge: string;
}

export function newProof(): Proof {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** Returns the parameters that identify an app in an authorization request. */
export function appOf(server: AuthorizationServer, app: AppName): { id: string; redirectUri: string } {
  if (app === "confidential") return server.confidentialApp;
  return { id: server.publicApp.id, redirectUri: withPort(server.publicApp.redirectUri, 49_152) };
}

/** Returns a loopback address with a port. */
export function withPort(uri: string, port: number): string {
  const url = new URL(uri);
  url.port = String(port);
  return url.href;
}

/** Returns a valid authorization request with overrides; undefined removes a parameter. */
export function authorizationUrl(
  server: AuthorizationServer,
  app: AppName,
  proof: Proof,
  overrides: Record<string, string | undefined> = {},
): URL {
  const { id, redirectUri } = appOf(server, app);
  const url = new URL(server.endpoints.authorize);
  const parameters = {
    response_type: "code",
    client_id: id,
    redirect_uri: redirectUri,
    scope: server.scopes.join(" "),
    state: "a-state",
    code_challenge: proof.challenge,
    code_challenge_method: "S256",
    ...overrides,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** A JSON response. */
export interface JsonResponse {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses of every shape
  body: any;
}

/** Posts a form to an endpoint. */
export async function post(
  url: string,
  fields: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<JsonResponse> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body: typeof fields === "string" ? fields : new URLSearchParams(fields).toString(),
  });
  const text = await response.text();
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Some responses have no body.
  }
  return { status: response.status, headers: response.headers, body };
}

/** Returns the form fields that authenticate an app. */
export function proves(server: AuthorizationServer, app: AppName): Record<string, string> {
  if (app === "public") return { client_id: server.publicApp.id };
  return { client_id: server.confidentialApp.id, client_secret: server.confidentialApp.secret };
}

/** Returns a code that the user has just approved. */
export async function obtainCode(
  server: AuthorizationServer,
  app: AppName,
  proof: Proof,
  overrides: Record<string, string | undefined> = {},
): Promise<string> {
  const { redirect, status } = await server.authorize(authorizationUrl(server, app, proof, overrides));
  const code = redirect?.searchParams.get("code");
  if (code === undefined || code === null) throw new Error(`no code: ${status} ${redirect?.href ?? "a page"}`);
  return code;
}

/** Exchanges a code with valid parameters and overrides. */
export function exchange(
  server: AuthorizationServer,
  app: AppName,
  code: string,
  proof: Proof,
  overrides: Record<string, string> = {},
): Promise<JsonResponse> {
  const fields = { code, code_verifier: proof.verifier, redirect_uri: appOf(server, app).redirectUri };
  return post(server.endpoints.token, {
    grant_type: "authorization_code",
    ...proves(server, app),
    ...fields,
    ...overrides,
  });
}

export function refreshWith(
  server: AuthorizationServer,
  app: AppName,
  token: string,
  overrides: Record<string, string> = {},
): Promise<JsonResponse> {
  const fields = { grant_type: "refresh_token", refresh_token: token };
  return post(server.endpoints.token, { ...fields, ...proves(server, app), ...overrides });
}

/** Signs in and returns the tokens. */
export async function obtainTokens(
  server: AuthorizationServer,
  app: AppName,
): Promise<{ access_token: string; refresh_token: string; scope: string; expires_in: number }> {
  const proof = newProof();
  const response = await exchange(server, app, await obtainCode(server, app, proof), proof);
  if (response.status !== 200) throw new Error(`no tokens: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}
