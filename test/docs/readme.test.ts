import { spawn as spawnProcess } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { Stripe } from "stripe";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { type DevProject, makeProject } from "../cli/support/dev-project.ts";
import { startApplication } from "../receiver-check/support/application.ts";
import { receiverWith, type Verifier, VERIFIERS } from "../receiver-check/support/provider-receivers.ts";
import { freePort } from "../support/free-port.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";
import { install } from "./application-folder.ts";
import { blocksOf, filesOf } from "./pages.ts";

const README = "../README.md";
const SECRET = "whsec_of_this_test";

const commandsIn = (pattern: RegExp): string[][] =>
  blocksOf(README)
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.trimEnd().split("\n"))
    .filter((line) => pattern.test(line))
    .map((line) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([word, quoted]) => quoted ?? word));

it("the check of README.md grades a receiver of Stripe by its effects", async () => {
  const [words = []] = commandsIn(/ npx service-cli webhooks check /);
  const sink = await freePort();
  const calls: Promise<unknown>[] = [];
  const application = await startApplication(receiverWith(VERIFIERS.stripe, SECRET), (id) => {
    // The sink closes with the check, while the receiver still handles the burst.
    calls.push(fetch(`http://127.0.0.1:${sink}/${id}`, { method: "POST" }).catch(() => {}));
  });
  const cwd = createConfigDir();
  const args = words.slice(3).map((word) => word.replace("localhost:3000/stripe", application.webhooks));
  const env = { SERVICE_WEBHOOK_SECRET: SECRET };
  const { exitCode, stdout } = await runCli([...args, "--effects", "--sink", String(sink), "--json"], { cwd, env });
  const { grade, checks } = JSON.parse(stdout) as ReceiverReport;
  expect({ exitCode, grade }).toEqual({ exitCode: 0, grade: "A" });
  expect(checks.find(({ id }) => id === "duplicate-at-once")).toMatchObject({ status: "passed" });
  await Promise.all(calls);
  application.close();
});

it("the failed check in docs/providers.md is what a terminal shows for a receiver without a tolerance", async () => {
  const { webhooks } = new Stripe("sk_test_unused");
  const verify: Verifier = (body, headers, secret) =>
    webhooks.constructEvent(body, String(headers["stripe-signature"]), secret, 0).id;
  const application = await startApplication(receiverWith(verify, SECRET));
  onTestFinished(() => application.close());
  const session = runInTerminal(["webhooks", "check", application.webhooks, "--scheme", "stripe"], {
    env: { SERVICE_WEBHOOK_SECRET: SECRET },
    columns: 100,
  });
  expect(await session.ended).toBe(1);
  const quote = blocksOf("providers.md").find(({ text }) => text.includes("✗"))!.text;
  const withoutTimes = (text: string): string => text.replaceAll(/[\d.]+ m?s\b/g, "… ms");
  expect(withoutTimes(session.text())).toContain(withoutTimes(quote));
});

it("README.md shows an answer of why as the tutorial does, whose test compares it with a terminal", () => {
  const quote = blocksOf(README).find(({ note }) => note === "needs the app of the tutorial")!.text;
  expect(blocksOf("tutorial.md").map(({ text }) => text)).toContainEqual(expect.stringContaining(quote));
});

it("the job of README.md passes for its receiver, and writes a report", async () => {
  const project = await makeProject({
    "receiver.mjs": filesOf(README).get("receiver.mjs")!.replace("3000", "APP_PORT"),
  });
  install(project.folder, ["service-cli"]);
  const { text } = blocksOf(README).find(({ language }) => language === "yaml")!;
  const { env, steps } = parse(text) as { env: Record<string, string>; steps: { run: string }[] };
  const script = steps.map(({ run }) => run.replace("npm ci && ", "").replace("3000", String(project.appPort)));
  const job = spawnProcess("bash", ["-e", "-c", script.join("\n")], {
    cwd: project.folder,
    env: { ...project.env, PATH: process.env["PATH"]!, npm_config_update_notifier: "false", ...env },
    detached: true,
    stdio: "ignore",
  });
  // The receiver runs on.
  onTestFinished(() => void process.kill(-job.pid!, "SIGTERM"));
  expect((await once(job, "exit"))[0]).toBe(0);
  expect(project.read("webhooks.xml")).toContain('failures="0"');
});

/** A shell with a prompt, where `service` is another program, as on Debian. */
function openShell({ folder, env }: DevProject): {
  type: (line: string) => void;
  waitFor: (text: string) => Promise<void>;
} {
  const pty = spawn("bash", ["--norc", "-i"], {
    cwd: folder,
    env: { ...env, PATH: process.env["PATH"]!, npm_config_update_notifier: "false" },
  });
  let output = "";
  pty.onData((data) => (output += data));
  onTestFinished(() => pty.kill());
  return {
    type: (line) => pty.write(line),
    waitFor: async (text) => {
      await expect.poll(() => output, { timeout: 60_000 }).toContain(text);
    },
  };
}

it("the tour of README.md works word for word in two terminals", async () => {
  const project = await makeProject({
    "receiver.mjs": filesOf(README).get("receiver.mjs")!.replace("3000", "APP_PORT"),
    "node_modules/.bin/service": "#!/bin/sh\necho unrecognized service",
  });
  symlinkSync(process.cwd(), join(project.folder, "node_modules/service-cli"));
  symlinkSync("../service-cli/bin/service.js", join(project.folder, "node_modules/.bin/service-cli"));
  const [init, dev, trigger] = blocksOf(README)
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.trimEnd().split("\n"))
    .filter((line) => /^npx service-cli (dev|trigger)\b/.test(line))
    .map((line) => `${line.replace("3000", String(project.appPort))}\r`);
  const [first, second] = [openShell(project), openShell(project)];
  first.type(init!);
  await first.waitFor("Next: npx service-cli dev");
  first.type(dev!);
  await first.waitFor("Ready");
  await first.waitFor("To trigger an event: npx service-cli trigger order.completed");
  second.type(trigger!);
  await first.waitFor("order.completed evt_");
  first.type("\u0003");
  await first.waitFor("2 received, 2 forwarded, 0 failed");
});
