import { CLI_CLIENT_ID, DEVICE_CODE_GRANT, OAUTH_PATHS } from "../../../src/contract/scopes.ts";
import { Browser } from "../oauth/support/browser.ts";
import type { ServedPlatform } from "../../support/platform.ts";

const PASSWORD = "correct horse battery";
const FURTHER_SESSIONS = 6;
const GRANTS = 4;

/** The signed-in owner of the account, whom some operations require instead of a key. */
export interface User {
  /** The headers of a dashboard request. */
  headers: [name: string, value: string][];
}

/**
 * Signs the owner in with several browsers, and authorizes some apps, so that there are sessions and grants to revoke.
 */
export async function signInOwner({ baseUrl, ready }: ServedPlatform): Promise<User> {
  const browser = new Browser(baseUrl);
  await browser.get(ready.sign_in_url!);
  const details = { email: "owner@example.com", new_password: PASSWORD };
  await browser.submit(await browser.get("/account"), details, ({ action }) => action === "/account/details");
  for (let i = 0; i < FURTHER_SESSIONS; i++) {
    const other = new Browser(baseUrl);
    await other.submit(await other.get("/sign-in"), { email: details.email, password: PASSWORD });
  }
  for (let i = 0; i < GRANTS; i++) await letAppAct(browser, baseUrl);
  return {
    headers: [
      ["Cookie", [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ")],
      ["Service-Environment", "sandbox"],
      ["Sec-Fetch-Site", "same-origin"],
      ["Origin", baseUrl],
    ],
  };
}

/** Completes the device flow. The access token is not used. */
async function letAppAct(browser: Browser, baseUrl: string): Promise<void> {
  const post = async (path: string, fields: Record<string, string>) => {
    const response = await fetch(baseUrl + path, { method: "POST", body: new URLSearchParams(fields) });
    return (await response.json()) as { device_code: string; user_code: string };
  };
  const app = { client_id: CLI_CLIENT_ID };
  const { device_code, user_code } = await post(OAUTH_PATHS.deviceAuthorization, { ...app, scope: "read_customers" });
  const question = await browser.submit(await browser.get(OAUTH_PATHS.device), { user_code });
  await browser.submit(question, { decision: "approve" });
  await post(OAUTH_PATHS.token, { ...app, grant_type: DEVICE_CODE_GRANT, device_code });
}
