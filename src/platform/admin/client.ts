import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { API_VERSIONS } from "../../contract/versions.ts";
import { SIGN_IN_LINKS_PATH, type SignInLink, signInUrl } from "./routes.ts";
import { type DeploymentSettings, openDeployment } from "../deployment.ts";
import { createLinkToken, SIGN_IN_LINK_SECONDS } from "../domain/users.ts";
import { Versions } from "../domain/versions.ts";
import { findSetting, PUBLIC_URL_SETTING } from "../storage/settings.ts";
import { firstOwner } from "../storage/accounts.ts";
import { systemClock, systemRandom } from "../ports.ts";
import { NotServingError } from "../errors.ts";

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
  const versions = new Versions(API_VERSIONS);
  const deployment = await openDeployment(settings, { machine: systemClock, random: systemRandom, versions });
  try {
    const { database, vault, clock } = deployment;
    const url = await findSetting(database, PUBLIC_URL_SETTING);
    const owner = await firstOwner(database);
    if (url === undefined || owner === undefined) throw new NotServingError("No platform has served this database.");
    const now = clock.now();
    const tools = { vault, random: systemRandom };
    const token = await database.write((tx) =>
      createLinkToken(tx, tools, { userId: owner.id, invitation: false, now }),
    );
    return {
      sign_in_url: signInUrl(Buffer.from(url).toString("utf8"), token),
      email: owner.email,
      expires_at: formatTimestamp(now + SIGN_IN_LINK_SECONDS * 1000),
    };
  } finally {
    await deployment.close();
  }
}
