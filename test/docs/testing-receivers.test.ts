import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse, parseDocument } from "yaml";
import { checkFixture } from "../../src/cli/triggering/fixture.ts";
import { freePort } from "../support/free-port.ts";
import { BIN, cliEnv, runCli } from "../support/run-cli.ts";
import { makeApplicationFolder } from "./application-folder.ts";
import { blocksOf, filesOf } from "./pages.ts";

const PAGE = "testing-receivers.md";
const files = filesOf(PAGE);

interface Step {
  uses?: string;
  run?: string;
  env?: Record<string, string>;
}
interface Workflow {
  jobs: Record<string, { steps: Step[] }>;
}
interface Compose {
  services: Record<string, { command: string | string[]; network_mode?: string; depends_on?: object | string[] }>;
}

const workflow = parse(files.get(".github/workflows/webhooks.yml")!) as Workflow;
const compose = parse(files.get("compose.yaml")!) as Compose;
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

const groups: ChildProcess[] = [];
afterAll(() => {
  for (const { pid } of groups) {
    try {
      process.kill(-pid!, "SIGTERM");
    } catch {
      // All processes of the step have exited.
    }
  }
});

describe("the YAML in docs/testing-receivers.md", () => {
  const blocks = blocksOf(PAGE).filter(({ language }) => language === "yaml");

  it.each(blocks.map(({ text }) => [text.split("\n")[0]!, text]))("%s is valid", (_name, text) => {
    const { errors, warnings } = parseDocument(text);
    expect([...errors, ...warnings]).toEqual([]);
  });

  it("is a fixture that can be sent, a workflow, steps, and services that refer to each other", () => {
    expect(blocks).toHaveLength(3);
    expect(checkFixture(parse(files.get("shop.yaml")!)).mistakes).toEqual([]);
    for (const step of steps) expect(Object.keys(step).some((key) => key === "uses" || key === "run")).toBe(true);
    const names = Object.keys(compose.services);
    for (const { network_mode: network = "service:platform", depends_on: needed = [] } of Object.values(
      compose.services,
    )) {
      expect(names).toContain(network.replace("service:", ""));
      for (const name of Array.isArray(needed) ? needed : Object.keys(needed)) expect(names).toContain(name);
    }
  });

  it("uses existing flags", () => {
    const scripts = [
      ...steps.map(({ run = "" }) => run),
      ...Object.values(compose.services).map(({ command }) => (Array.isArray(command) ? command.at(-1)! : command)),
    ];
    const commands = scripts.flatMap((script) => [...script.matchAll(/npx service-cli ((?:[a-z]+ )+)(.*)/g)]);
    expect(commands).toHaveLength(6);
    for (const [, message = "", rest = ""] of commands) {
      const help = execFileSync(process.execPath, [BIN, ...message.trim().split(" "), "--help"], { encoding: "utf8" });
      const globals = execFileSync(process.execPath, [BIN, "--help"], { encoding: "utf8" });
      for (const [flag] of rest.split(" -- ")[0]!.matchAll(/--[a-z-]+/g)) expect(help + globals).toContain(`${flag} `);
    }
  });
});

it("the Stripe receiver in docs/providers.md passes every check, with the flags of the page", async () => {
  const page = "providers.md";
  const application = new Map([...filesOf("receiving-webhooks.md"), ["stripe.js", filesOf(page).get("stripe.js")!]]);
  const folder = await makeApplicationFolder(["receiving-webhooks.md", page], application);
  const [port, sink] = [await freePort(), await freePort()].map(String);
  const secret = "whsec_for_tests";
  const env = { PORT: port, EFFECTS_URL: `http://127.0.0.1:${sink}`, STRIPE_WEBHOOK_SECRET: secret };
  const receiver = spawn(process.execPath, ["stripe.js"], { cwd: folder, env: cliEnv(env), detached: true });
  groups.push(receiver);
  const { text } = blocksOf(page).find((block) => block.text.includes("/stripe --scheme stripe --effects"))!;
  const [, command = ""] = /service-cli (webhooks check .*)$/m.exec(text) ?? [];
  const args = command.replace("localhost:3000", `localhost:${port}`).split(" ");
  const { stdout } = await runCli([...args, "--sink", sink!, "--wait", "1h", "--json"], {
    cwd: folder,
    env: { SERVICE_WEBHOOK_SECRET: secret },
  });
  expect(JSON.parse(stdout)).toMatchObject({ grade: "A", counts: { failed: 0, skipped: 1 } });
});

it("the workflow steps in docs/testing-receivers.md pass in order", async () => {
  const application = new Map([...filesOf("receiving-webhooks.md"), ["orders.test.js", files.get("orders.test.js")!]]);
  application.set("package.json", blocksOf(PAGE).find(({ language }) => language === "json")!.text);
  const folder = await makeApplicationFolder(PAGE, application);
  const [platform, port, sink] = [await freePort(), await freePort(), await freePort()].map(String);
  const onFreePorts = (text: string): string =>
    text.replaceAll("4010", platform!).replaceAll("localhost:3000", `localhost:${port}`).replaceAll("4011", sink!);
  const github = join(folder, "github-env");
  writeFileSync(github, "");
  for (const { run, env = {} } of steps) {
    // The packages are installed already.
    if (run === undefined || run === "npm ci") continue;
    const given = readFileSync(github, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    const own = Object.entries(env).map(([name, value]) => [name, onFreePorts(value)]);
    const child = spawn("bash", ["-e", "-c", onFreePorts(run)], {
      cwd: folder,
      // Runs in a separate process group, so that leftover processes can be stopped.
      detached: true,
      env: cliEnv({
        ...Object.fromEntries(given.map((line) => line.split("=") as [string, string])),
        ...Object.fromEntries(own),
        GITHUB_ENV: github,
        PORT: port,
        npm_config_update_notifier: "false",
      }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    groups.push(child);
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    const [exitCode] = (await once(child, "exit")) as [number | null];
    expect(exitCode, `${run}\n${output}`).toBe(0);
  }
  expect(existsSync(join(folder, "inbox.db"))).toBe(true);
  const xml = readFileSync(join(folder, "webhooks.xml"), "utf8");
  expect(xml).toMatch(/<testsuites tests="27" failures="0" errors="0" skipped="1"/);
});
