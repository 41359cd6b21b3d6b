import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

interface Step {
  id?: string;
  shell: string;
  run: string;
  env?: Record<string, string>;
}
interface Action {
  inputs: Record<string, { description: string; default: string }>;
  outputs: Record<string, { description: string; value: string }>;
  runs: { using: string; steps: Step[] };
}
/** What a job has after the action. */
interface Job {
  exitCode: number | null;
  printed: string;
  outputs: Record<string, string>;
  /** Variables of the steps that follow. */
  env: Record<string, string>;
}

const action = parse(readFileSync(join(root, "action.yml"), "utf8")) as Action;
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
/** Process groups of the steps, which the platform outlives. */
const groups: number[] = [];
let tarball: string;
let cache: string;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "service-action-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root });
  tarball = join(folder, `service-cli-${version}.tgz`);
  cache = (await run("npm", ["config", "get", "cache"])).stdout.trim();
});
afterAll(() => {
  for (const pid of groups) {
    try {
      process.kill(-pid, "SIGTERM");
    } catch {
      // The step left nothing running.
    }
  }
});

/** Reads the lines `name=value` that a step has written for the runner. */
const assignments = (file: string) =>
  Object.fromEntries(
    readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

/** Runs the steps of the action as a runner does, until one fails. */
async function runAction(inputs: Record<string, string>): Promise<Job> {
  const folder = mkdtempSync(join(tmpdir(), "service-runner-"));
  const files = Object.fromEntries(
    ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH"].map((name) => [name, join(folder, name)]),
  );
  for (const file of Object.values(files)) writeFileSync(file, "");
  const outputs: Record<string, Record<string, string>> = {};
  const job: Job = { exitCode: 0, printed: "", outputs: {}, env: {} };
  const expand = (template: string) =>
    template.replaceAll(
      /\$\{\{ (?:inputs\.([\w-]+)|steps\.([\w-]+)\.outputs\.([\w-]+)) \}\}/g,
      (_all, input, step, output) =>
        input === undefined ? (outputs[step]?.[output] ?? "") : (inputs[input] ?? action.inputs[input]!.default),
    );
  for (const { id = "", run: script, env = {} } of action.runs.steps) {
    const file = join(folder, "step.sh");
    writeFileSync(file, script);
    writeFileSync(files["GITHUB_OUTPUT"]!, "");
    const added = readFileSync(files["GITHUB_PATH"]!, "utf8").split("\n").filter(Boolean);
    const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", file], {
      cwd: folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: [...added, dirname(process.execPath), process.env["PATH"]].join(delimiter),
        HOME: folder,
        RUNNER_TEMP: folder,
        npm_config_cache: cache,
        ...files,
        ...assignments(files["GITHUB_ENV"]!),
        ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, expand(value)])),
      },
    });
    groups.push(child.pid!);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    job.exitCode = code as number | null;
    job.printed += stdout + stderr;
    outputs[id] = assignments(files["GITHUB_OUTPUT"]!);
    if (code !== 0) break;
  }
  job.outputs = Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, expand(value)]));
  job.env = assignments(files["GITHUB_ENV"]!);
  return job;
}

describe("action.yml", () => {
  it("is a composite action whose steps specify their shell, and installs its own version", () => {
    expect(action.runs.using).toBe("composite");
    for (const step of action.runs.steps) expect(step.shell).toBe("bash");
    expect(action.inputs["package"]?.default).toBe(`service-cli@${version}`);
    for (const input of Object.values(action.inputs)) expect(input.description).not.toBe("");
  });

  it("has the inputs and the version that its comment names", () => {
    const comment = readFileSync(join(root, "action.yml"), "utf8")
      .match(/^# .*$/gm)!
      .slice(1);
    const [step] = parse(comment.map((line) => line.slice(2)).join("\n")) as [
      { uses: string; with: Record<string, string> },
    ];
    expect(step.uses).toBe(`OWNER/REPOSITORY@v${version}`);
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with)));
    expect(step.with["package"]).toMatch(new RegExp(`/service-cli-${version}\\.tgz$`));
  });

  let job: Job;
  beforeAll(async () => {
    job = await runAction({ package: tarball, arguments: "--allow-private-targets --rate-limit 0" });
  });

  it("starts a platform that accepts the exported key", async () => {
    expect(job.exitCode, job.printed).toBe(0);
    const { SERVICE_BASE_URL: url, SERVICE_API_KEY: key } = job.env;
    expect(job.outputs).toEqual({
      "base-url": url,
      "sandbox-key": key,
      "live-key": expect.stringMatching(/^sk_live_/),
      log: expect.stringContaining("platform.ndjson"),
    });
    const created = await fetch(`${url}/v1/customers`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ email: "ada@example.com" }),
    });
    expect([created.status, await created.json()]).toEqual([
      201,
      expect.objectContaining({ email: "ada@example.com" }),
    ]);
  });

  it("prints the keys only to mask them", () => {
    const { printed, outputs } = job;
    const lines = printed.split("\n").filter((line) => /sk_(sandbox|live)_/.test(line));
    expect(lines).toEqual([`::add-mask::${outputs["sandbox-key"]}`, `::add-mask::${outputs["live-key"]}`]);
  });

  it("fails with the error of a platform that does not start", async () => {
    const { exitCode, printed, env } = await runAction({ package: tarball, arguments: "--host 192.0.2.1" });
    expect(exitCode).toBe(1);
    expect(printed).toContain("--host 192.0.2.1 would expose the API");
    expect(env).toEqual({});
  });
});
