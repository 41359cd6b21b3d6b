import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { type CliResult, runCli } from "../support/run-cli.ts";
import { type Application, startApplication, type Work } from "./support/application.ts";
import { CORRECT, stripeReceiver } from "./support/correct-receivers.ts";
import { type Flaw, handWritten } from "./support/hand-written-receiver.ts";

const SECRETS = [`whsec_${"a".repeat(43)}`, `whsec_${"b".repeat(43)}`];

/** The sections of the documentation that rules link to. */
const RULES = [
  ...readFileSync(new URL("../../docs/receiving-webhooks.md", import.meta.url), "utf8").matchAll(/^## (.*)$/gm),
].map(([, heading]) => `docs/receiving-webhooks.md#${heading!.toLowerCase().replaceAll(" ", "-")}`);

const started: Application[] = [];
afterAll(() => {
  for (const application of started) application.close();
});

/** Runs the command against a receiver, with both secrets of a rotation and the application's counter. */
async function check(
  receiver: (work: Work) => RequestListener | Promise<RequestListener>,
): Promise<CliResult & { report: ReceiverReport }> {
  const application = await startApplication(receiver);
  started.push(application);
  const args = ["webhooks", "check", application.webhooks, "--probe", application.count, "--json"];
  const result = await runCli([...args, "--secret-file", "-"], { input: SECRETS.join("\n") });
  expect(result.stderr).toBe("");
  return { ...result, report: JSON.parse(result.stdout) as ReceiverReport };
}

function failed({ checks }: ReceiverReport): string[] {
  return checks.filter(({ status }) => status === "failed").map(({ id }) => id);
}

/** The slow one first: the others finish before it. */
const FLAWS: readonly (readonly [Flaw, readonly string[]])[] = [
  ["responds after a minute", ["responds-in-time"]],
  ["parses before verifying", ["body-spacing", "body-unicode", "body-escaped-slashes", "body-large-numbers"]],
  ["looks at no timestamp", ["t-301-s-old", "t-301-s-ahead"]],
  ["throws on unequal lengths", ["signature-wrong-length", "signature-empty"]],
  ["reads the first v1 only", ["two-signatures-own-second"]],
  ["knows the current secret only", ["previous-secret"]],
  ["has no dedupe", ["duplicate-in-turn", "duplicate-at-once"]],
  ["has a dedupe that races", ["duplicate-at-once"]],
  [
    "responds 500 to every rejected delivery",
    [
      "no-signature",
      "malformed-header",
      "wrong-secret",
      "changed-body",
      "signature-wrong-length",
      "signature-not-hex",
      "signature-empty",
      "t-301-s-old",
      "t-301-s-ahead",
    ],
  ],
];

// The first one waits.
describe.concurrent("service webhooks check", () => {
  it.each(FLAWS)("detects a receiver that %s", async (flaw, expected) => {
    const { exitCode, report } = await check((work) => handWritten(work, SECRETS, flaw));
    expect({ exitCode, failed: failed(report) }).toEqual({ exitCode: 1, failed: expected });
    for (const { status, explanation, fix, rule } of report.checks) {
      expect(RULES).toContain(rule);
      if (status === "failed") expect([explanation, fix]).toEqual([expect.any(String), expect.any(String)]);
    }
  });
});

// Each delivery of a burst of 100 must get a response within 10 s, so nothing else runs in parallel.
describe("service webhooks check for a correct receiver", () => {
  it.each(Object.entries(CORRECT))("finds no problem in a correct receiver in %s", async (_name, receiver) => {
    const { exitCode, report } = await check((work) => receiver(work, SECRETS));
    expect(report.checks.filter(({ status }) => status !== "passed")).toEqual([]);
    expect({ exitCode, grade: report.grade, passed: report.passed }).toEqual({
      exitCode: 0,
      grade: "A",
      passed: true,
    });
  });

  it("finds no problem in a receiver without the library", async () => {
    const { exitCode, report } = await check((work) => handWritten(work, SECRETS));
    expect(report.checks.filter(({ status }) => status !== "passed")).toEqual([]);
    expect(exitCode).toBe(0);
  });

  it("finds only that another platform's verifier accepts timestamps from the future", async () => {
    const { exitCode, report } = await check((work) => stripeReceiver(work, SECRETS));
    expect({ exitCode, failed: failed(report) }).toEqual({ exitCode: 1, failed: ["t-301-s-ahead"] });
    expect(report.counts.skipped).toBe(0);
  });
});
