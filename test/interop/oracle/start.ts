import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type AuthorizationServer, type Outcome, post } from "../../platform/oauth/support/authorization-server.ts";
import { Browser, formsOf, type Visit } from "../../platform/oauth/support/browser.ts";
import { installPackages } from "../support/packages.ts";

/** oidc-provider requires a newer Node.js than ours. */
const PACKAGES = ["oidc-provider@9.13.3", "node@24"];

const APPS = {
  publicApp: { id: "app_public", redirectUri: "http://127.0.0.1/callback" },
  confidentialApp: { id: "app_web", secret: "a-secret", redirectUri: "https://app.example.com/oauth/callback" },
  scopes: ["read_customers", "write_customers"] as const,
};

/** Starts oidc-provider for the checks: an independent implementation of the same standards, in a separate process. */
export async function startOracle(): Promise<{ server: AuthorizationServer; stop: () => void }> {
  const folder = await installPackages(...PACKAGES);
  const program = fileURLToPath(new URL("serve.ts", import.meta.url));
  const node = join(folder, "node_modules/node/bin/node");
  const child = spawn(node, [program, folder, JSON.stringify(APPS)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { NODE_NO_WARNINGS: "1" },
  });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const issuer = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once("line", resolve);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`oidc-provider ended with ${code}:\n${complaints}`)));
  });
  return { server: oracle(issuer), stop: () => void child.kill() };
}

function oracle(issuer: string): AuthorizationServer {
  const { publicApp, confidentialApp, scopes } = APPS;
  return {
    name: "oidc-provider",
    issuer,
    endpoints: {
      authorize: `${issuer}/auth`,
      token: `${issuer}/token`,
      revoke: `${issuer}/token/revocation`,
      device: `${issuer}/device/auth`,
    },
    publicApp,
    confidentialApp,
    scopes,
    open: async (url) => outcomeOf(await new Browser(issuer).get(url.href)),
    async authorize(url, decision = "approve") {
      const browser = new Browser(issuer);
      return outcomeOf(await respond(browser, await browser.get(url.href), decision));
    },
    async decideDevice(userCode, decision) {
      const browser = new Browser(issuer);
      const question = await browser.submit(await browser.get(`${issuer}/device`), { user_code: userCode });
      if (!question.text.includes("op.deviceConfirmForm")) return false;
      if (decision === "deny") {
        await browser.submit(question, { abort: "yes" });
        return true;
      }
      return (await respond(browser, await browser.submit(question, {}), "approve")).text.includes("Sign-in Success");
    },
    async works(token) {
      const fields = { token, client_id: confidentialApp.id, client_secret: confidentialApp.secret };
      return (await post(`${issuer}/token/introspection`, fields)).body.active === true;
    },
    // Its checks do not depend on time.
    advance() {},
  };
}

/** Signs in and submits every prompt. */
async function respond(browser: Browser, visit: Visit, decision: "approve" | "deny"): Promise<Visit> {
  const [form] = formsOf(visit);
  switch (form?.fields["prompt"]) {
    case "login":
      return respond(browser, await browser.submit(visit, { login: "ada", password: "x" }), decision);
    case "consent":
      if (decision === "approve") return respond(browser, await browser.submit(visit, {}), decision);
      return browser.get(`${visit.url.replace(/\/+$/, "")}/abort`);
    default:
      return visit;
  }
}

function outcomeOf({ left, status, headers }: Visit): Outcome {
  return { redirect: left, status, headers };
}
