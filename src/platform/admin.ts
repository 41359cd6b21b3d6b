import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { formatTimestamp } from "../contract/timestamps.ts";
import { parseAddress } from "../network/addresses.ts";
import { ApiError, missing } from "./domain/api-error.ts";
import { createLinkToken, SIGN_IN_LINK_SECONDS } from "./domain/users.ts";
import { systemClock, systemRandom } from "./ports.ts";
import type { With } from "./tools.ts";
import { firstOwner } from "./storage/accounts.ts";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { type DeploymentSettings, openDeployment } from "./deployment.ts";
import { findSetting, PUBLIC_URL_SETTING } from "./storage/settings.ts";
import { NotServingError } from "./errors.ts";

export const SIGN_IN_LINKS_PATH = "/admin/sign_in_links";

export interface SignInLink {
  sign_in_url: string;
  /** The user whom the link signs in. */
  email: string;
  expires_at: string;
}

type LinkTools = With<"database" | "vault" | "random" | "clock">;

/** Routes for the administrator of this machine, who proves it with the token in the file next to the database. */
export function adminRoutes(app: FastifyInstance, tools: LinkTools & With<"baseUrl">, token: string): void {
  const { vault } = tools;
  const expectedDigest = vault.digest(token);

  const assertAdministrator = async ({ raw }: FastifyRequest) => {
    const peer = parseAddress(raw.socket.remoteAddress ?? "");
    const isLocal = peer?.range() === "loopback";
    const sent = vault.digest(/^Bearer (\S+)$/.exec(raw.headers.authorization ?? "")?.[1] ?? "");
    if (isLocal && timingSafeEqual(sent, expectedDigest)) return;
    const detail = "Requires the token from the file next to the database, and a connection from the same machine.";
    const headers = { "WWW-Authenticate": 'Bearer realm="service-admin"' };
    throw new ApiError("invalid_credential", detail, { headers });
  };

  app.post(SIGN_IN_LINKS_PATH, { onRequest: assertAdministrator }, async (_request, reply) => {
    void reply.code(201);
    return (await newSignInLink(tools, tools.baseUrl())) ?? missing("user", "owner");
  });
}

/** Returns a link that signs the first owner in once; undefined for a database without accounts. */
export async function newSignInLink({ database, vault, random, clock }: LinkTools, baseUrl: string) {
  const owner = await firstOwner(database);
  if (owner === undefined) return undefined;
  const now = clock.now();
  const link = { userId: owner.id, invitation: false, now };
  const token = await database.write((tx) => createLinkToken(tx, { vault, random }, link));
  return {
    sign_in_url: signInUrl(baseUrl, token),
    email: owner.email,
    expires_at: formatTimestamp(now + SIGN_IN_LINK_SECONDS * 1000),
  };
}

export function signInUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/sign-in/link?token=${token}`;
}

/**
 * Requests a one-time sign-in link from the process that serves a database. Throws NotServingError if there is none.
 */
export async function requestSignInLink(database: string): Promise<SignInLink> {
  const access = readAdminFile(database);
  if (access === undefined) throw new NotServingError(`No platform serves ${database}.`);
  let response: Response;
  try {
    response = await fetch(access.url + SIGN_IN_LINKS_PATH, {
      method: "POST",
      headers: { Authorization: `Bearer ${access.token}` },
    });
  } catch (error) {
    throw new NotServingError(`The platform that served ${database} is no longer reachable.`, { cause: error });
  }
  // Another program may have taken the port since. Only the platform that wrote the file knows the token.
  if (response.status !== 201) throw new NotServingError(`The server at ${access.url} does not serve ${database}.`);
  return (await response.json()) as SignInLink;
}

/** How a command on the same machine reaches the process that serves a database. */
interface AdminAccess {
  /** The server's address on this machine. */
  url: string;
  token: string;
}

/** The file is next to the database: anyone who may read it may administer the platform. */
function fileOf(database: string): string {
  return `${database}.admin`;
}

/** Writes the file, readable by its owner only. */
export function writeAdminFile(database: string, access: AdminAccess): void {
  removeAdminFile(database);
  writeFileSync(fileOf(database), `${JSON.stringify(access)}\n`, { flag: "wx", mode: 0o600 });
}

export function removeAdminFile(database: string): void {
  rmSync(fileOf(database), { force: true });
}

/** Returns undefined if no process serves the database, or the process has not written how to reach it. */
function readAdminFile(database: string): AdminAccess | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(database), "utf8")) as AdminAccess;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Creates a one-time sign-in link in a database that other processes serve. Throws NotServingError if none ever did.
 */
export async function createSignInLink(settings: DeploymentSettings): Promise<SignInLink> {
  const deployment = await openDeployment(settings, { machine: systemClock, random: systemRandom });
  try {
    const url = await findSetting(deployment.database, PUBLIC_URL_SETTING);
    const tools = { ...deployment, random: systemRandom };
    const link = url && (await newSignInLink(tools, Buffer.from(url).toString("utf8")));
    if (link === undefined) throw new NotServingError("No platform has served this database.");
    return link;
  } finally {
    await deployment.close();
  }
}
