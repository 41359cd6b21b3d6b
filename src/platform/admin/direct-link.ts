import { formatTimestamp } from "../../contract/timestamps.ts";
import { type DeploymentSettings, openDeployment } from "../deployment.ts";
import { createLinkToken, SIGN_IN_LINK_SECONDS } from "../domain/sign-in-links.ts";
import { Versions } from "../domain/versions.ts";
import { API_VERSIONS } from "../../contract/versions.ts";
import { findSetting, PUBLIC_URL_SETTING } from "../storage/settings.ts";
import { firstOwner } from "../storage/users.ts";
import { systemClock, systemRandom } from "../system.ts";
import { NotServingError } from "./client.ts";
import { type SignInLink, signInUrl } from "./routes.ts";

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
