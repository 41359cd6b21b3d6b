import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { sign, verify } from "../../src/webhooks/schemes.ts";
import { type Application, startApplication } from "../receiver-check/support/application.ts";
import { receiverWith, type Verifier } from "../receiver-check/support/provider-receivers.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { installPackages } from "./support/packages.ts";

const SVIX_SECRET = `whsec_${Buffer.alloc(24, 5).toString("base64")}`;
const PAYLOAD = '{"id":"1","total":1999}';

interface Svix {
  Webhook: new (secret: string) => {
    verify(payload: string, headers: Record<string, unknown>): unknown;
    sign(id: string, timestamp: Date, payload: string): string;
  };
}

interface Octokit {
  Webhooks: new (options: { secret: string }) => {
    verify(payload: string, signature: string): Promise<boolean>;
    sign(payload: string): Promise<string>;
  };
}

interface Shopify {
  shopifyApi: (config: Record<string, unknown>) => {
    webhooks: { validate(request: { rawBody: string; rawRequest: unknown }): Promise<{ valid: boolean }> };
  };
}

let svix: Svix;
let octokit: Octokit;
let shopify: ReturnType<Shopify["shopifyApi"]>;
const started: Application[] = [];

beforeAll(async () => {
  const folder = await installPackages("svix@1.84.1", "@octokit/webhooks@14.2.0", "@shopify/shopify-api@12.3.0");
  const load = createRequire(join(folder, "package.json"));
  svix = load("svix") as Svix;
  const file = join(folder, "node_modules/@octokit/webhooks/dist-bundle/index.js");
  octokit = (await import(pathToFileURL(file).href)) as Octokit;
  load("@shopify/shopify-api/adapters/node");
  const { shopifyApi } = load("@shopify/shopify-api") as Shopify;
  shopify = shopifyApi({
    apiKey: "key",
    apiSecretKey: "secret",
    apiVersion: "2025-10",
    scopes: [],
    hostName: "localhost",
    isEmbeddedApp: false,
    logger: { log: () => {} },
  });
});
afterAll(() => {
  for (const application of started) application.close();
});

describe("svix", () => {
  it("verifies what sign returns, and signs what verify accepts", () => {
    const webhook = new svix.Webhook(SVIX_SECRET);
    const id = `msg_${randomUUID()}`;
    const headers = sign({ scheme: "svix", payload: PAYLOAD, secrets: SVIX_SECRET, id });
    expect(webhook.verify(PAYLOAD, headers)).toEqual(JSON.parse(PAYLOAD));
    const now = Math.floor(Date.now() / 1000);
    const theirs = {
      "svix-id": id,
      "svix-timestamp": String(now),
      "svix-signature": webhook.sign(id, new Date(now * 1000), PAYLOAD),
    };
    expect(verify({ scheme: "svix", payload: PAYLOAD, headers: theirs, secrets: SVIX_SECRET })).toEqual({
      id,
      timestamp: now,
    });
  });
});

describe("@octokit/webhooks", () => {
  it("verifies what sign returns, and signs what verify accepts", async () => {
    const webhooks = new octokit.Webhooks({ secret: "secret" });
    const headers = sign({ scheme: "github", payload: PAYLOAD, secrets: "secret", id: randomUUID() });
    expect(await webhooks.verify(PAYLOAD, headers["X-Hub-Signature-256"]!)).toBe(true);
    const theirs = { "X-Hub-Signature-256": await webhooks.sign(PAYLOAD) };
    expect(verify({ scheme: "github", payload: PAYLOAD, headers: theirs, secrets: "secret" })).toEqual({});
  });
});

const PROVIDERS: Record<string, { secret: string; verify: () => Verifier }> = {
  svix: {
    secret: SVIX_SECRET,
    verify: () => (body, headers, secret) => {
      new svix.Webhook(secret).verify(body, headers);
      return headers["svix-id"];
    },
  },
  github: {
    secret: "secret",
    verify: () => async (body, headers, secret) =>
      (await new octokit.Webhooks({ secret }).verify(body, String(headers["x-hub-signature-256"]))) &&
      headers["x-github-delivery"],
  },
  shopify: {
    secret: "secret",
    verify: () => async (body, headers) => {
      const { valid } = await shopify.webhooks.validate({ rawBody: body, rawRequest: { headers } });
      return valid && headers["x-shopify-webhook-id"];
    },
  },
};

describe("service webhooks check --scheme", () => {
  it.each(Object.entries(PROVIDERS))("gives an A to a receiver with the library of %s", async (scheme, provider) => {
    const application = await startApplication(receiverWith(provider.verify(), provider.secret));
    started.push(application);
    const payload = join(createConfigDir(), "event.json");
    writeFileSync(payload, PAYLOAD);
    const args = ["--scheme", scheme, "--payload", payload, "--secret-file", "-", "--probe", application.count];
    const { stdout } = await runCli(["webhooks", "check", application.webhooks, ...args, "--json"], {
      input: provider.secret,
    });
    const { grade, checks } = JSON.parse(stdout) as ReceiverReport;
    expect({ grade, failed: checks.filter(({ status }) => status === "failed") }).toEqual({ grade: "A", failed: [] });
  });
});
