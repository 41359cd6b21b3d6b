import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { ReceiverReport } from "../../../src/receiver-check/run.ts";
import { type CliResult, createConfigDir, runCli } from "../../support/run-cli.ts";
import { type Application, startApplication } from "./application.ts";
import { receiverWith, type Verifier, type VERIFIERS } from "./provider-receivers.ts";

export type Provider = keyof typeof VERIFIERS;

export const STANDARD_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
export const SECRETS: Record<Provider, string> = {
  stripe: "whsec_test_secret_12345",
  standard: STANDARD_SECRET,
  github: "It's a Secret to Everybody",
  shopify: "shpss_0123456789abcdef",
  slack: "8f742231b10e8888abcd99yyyzzz85a5",
};

export const hmac = (algorithm: string, secret: string, text: string): string =>
  createHmac(algorithm, secret).update(text).digest("hex");

/** Bodies as the providers document them, with numbers and text that JSON.stringify writes in the same way. */
export const PAYLOADS: Record<Provider, unknown> = {
  stripe: { id: "evt_1Q", object: "event", type: "charge.succeeded", data: { object: { id: "ch_1", amount: 1999 } } },
  standard: { type: "user.created", timestamp: "2026-11-01T00:00:00Z", data: { id: "usr_1" } },
  github: { ref: "refs/heads/main", repository: { full_name: "octo/repo" }, commits: [] },
  shopify: { id: 820982911946154500, email: "jon@example.com", line_items: [] },
  slack: { type: "event_callback", event_id: "Ev08MFMKH6", event: { type: "app_mention", text: "hello" } },
};

/** They are closed after the tests of the file. */
export const started: Application[] = [];
afterAll(() => {
  for (const application of started) application.close();
});

interface Outcome extends CliResult {
  report: ReceiverReport;
  acted: string[];
}

/** Runs the command with a payload against a receiver that verifies like this, with a probe. */
export async function check(
  provider: Provider,
  verify: Verifier,
  {
    scheme = provider,
    dedupe = true,
    content = JSON.stringify(PAYLOADS[provider], undefined, 2),
  }: { scheme?: string; dedupe?: boolean; content?: string } = {},
): Promise<Outcome> {
  const secret = SECRETS[provider];
  const application = await startApplication(receiverWith(verify, secret, dedupe));
  started.push(application);
  const payload = join(createConfigDir(), "event.json");
  writeFileSync(payload, content);
  const args = ["--scheme", scheme, "--payload", payload, "--secret-file", "-", "--probe", application.count];
  const result = await runCli(["webhooks", "check", application.webhooks, ...args, "--json"], { input: secret });
  expect(result.stderr).toBe("");
  return { ...result, report: JSON.parse(result.stdout) as ReceiverReport, acted: application.work.acted };
}

export const idsWith = ({ checks }: ReceiverReport, wanted: string): string[] =>
  checks.filter(({ status }) => status === wanted).map(({ id }) => id);

/** Verifies JSON that was parsed and written again. */
export const parsed =
  (verify: Verifier): Verifier =>
  (body, ...rest) =>
    verify(JSON.stringify(JSON.parse(body)), ...rest);
/** Verifies the signature of Slack over this text, whatever its age. */
export const slackOver =
  (signed: (timestamp: string, body: string) => string): Verifier =>
  (body, headers, secret) => {
    const text = signed(String(headers["x-slack-request-timestamp"]), body);
    return headers["x-slack-signature"] === `v0=${hmac("sha256", secret, text)}` && "id";
  };
