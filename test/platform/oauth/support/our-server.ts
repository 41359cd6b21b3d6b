import { apiOf } from "../../../support/api.ts";
import type { AuthorizationServer, Outcome } from "./authorization-server.ts";
import { Browser, type Visit } from "./browser.ts";
import type { EmbeddedPlatform } from "./embedded-platform.ts";

/** Our platform for the checks, with the owner signed in and a confidential app registered. */
export interface OurServer extends AuthorizationServer {
  /** The owner's browser. */
  browser: Browser;
}

export const THIRD_PARTY_REDIRECT = "https://app.example.com/oauth/callback";

/** Signs in with `signInUrl`, and registers the app with the sandbox key. */
export async function ourServer(
  platform: Pick<EmbeddedPlatform, "baseUrl" | "signInUrl" | "sandboxKey" | "advance">,
): Promise<OurServer> {
  const browser = new Browser(platform.baseUrl);
  await browser.get(platform.signInUrl);
  const api = apiOf(platform.baseUrl, platform.sandboxKey);
  const { body: app } = await api("POST", "/v1/oauth_apps", { name: "Reports", redirect_uris: [THIRD_PARTY_REDIRECT] });
  const oauth = `${platform.baseUrl}/oauth`;
  return {
    name: "ours",
    issuer: platform.baseUrl,
    endpoints: {
      authorize: `${oauth}/authorize`,
      token: `${oauth}/token`,
      revoke: `${oauth}/revoke`,
      device: `${oauth}/device_authorization`,
    },
    publicApp: { id: "app_service_cli", redirectUri: "http://127.0.0.1/callback" },
    confidentialApp: { id: app.client_id, secret: app.client_secret, redirectUri: THIRD_PARTY_REDIRECT },
    scopes: ["read_customers", "write_customers"],
    browser,
    open: async (url) => outcomeOf(await browser.get(url.href)),
    async authorize(url, decision = "approve") {
      const question = await browser.get(url.href);
      if (question.left !== undefined || question.status >= 400) return outcomeOf(question);
      return outcomeOf(await browser.submit(question, { decision }));
    },
    async decideDevice(userCode, decision) {
      const question = await browser.trySubmit(await browser.get(`${oauth}/device`), { user_code: userCode });
      if (question.status >= 400) return false;
      const respond = await browser.submit(question, { decision });
      return respond.status === 200;
    },
    works: async (token) => (await apiOf(platform.baseUrl, token)("GET", "/v1/me")).status === 200,
    advance: (milliseconds) => platform.advance(milliseconds),
  };
}

function outcomeOf({ left, status, headers }: Visit): Outcome {
  return { redirect: left, status, headers };
}
