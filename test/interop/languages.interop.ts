import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, describe, it } from "vitest";
import type { ReceiverReport } from "../../src/receiver-check/run.ts";
import { filesOf } from "../docs/pages.ts";
import { freePort } from "../support/free-port.ts";
import { runCli } from "../support/run-cli.ts";
import { findProgram } from "./support/debian.ts";
import { recordVersion } from "./support/tool-version.ts";

const SECRET = `whsec_${"d".repeat(43)}`;
const FILES = filesOf("frameworks.md");
const python = spawnSync("python3", ["--version"]).status === 0 ? "python3" : undefined;
const go = findProgram("go", "golang-go", "golang-1.19-go", "golang-1.19-src");

/** Runs a file of the page, and returns the checks that it does not pass. Effects cannot be seen without a sink. */
async function failuresOf(name: string, run: (file: string, folder: string) => [string, string[], object?]) {
  const folder = mkdtempSync(join(tmpdir(), "service-language-"));
  const file = join(folder, name);
  writeFileSync(file, FILES.get(name)!);
  const [program, args, further] = run(file, folder);
  const port = await freePort();
  const env = { ...process.env, ...further, PORT: String(port), SERVICE_WEBHOOK_SECRET: SECRET };
  const receiver = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  let complaints = "";
  receiver.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const flags = ["--wait", "60s", "--json", "--secret-file", "-"];
  const { stdout, stderr } = await runCli(["webhooks", "check", `${port}/webhooks`, ...flags], { input: SECRET });
  receiver.kill();
  await once(receiver, "exit");
  rmSync(folder, { recursive: true, force: true });
  expect(stdout, stderr + complaints).not.toBe("");
  const { checks, grade } = JSON.parse(stdout) as ReceiverReport;
  return { grade, failed: checks.filter(({ status }) => status === "failed") };
}

describe("the Python receiver in docs/frameworks.md", () => {
  recordVersion(python, "--version");
  it.skipIf(python === undefined)("rejects every forged delivery", async () => {
    const result = await failuresOf("receiver.py", (file) => [python!, [file]]);
    expect(result).toEqual({ grade: "B", failed: [] });
  });
});

describe("the Go receiver in docs/frameworks.md", () => {
  recordVersion(go, "version");
  it.skipIf(go === undefined)("rejects every forged delivery", async () => {
    const result = await failuresOf("receiver.go", (file, folder) => {
      const program = existsSync(go!) ? realpathSync(go!) : go!;
      const env = { GOCACHE: join(folder, "cache"), GO111MODULE: "off", GOFLAGS: "" };
      const binary = join(folder, "receiver");
      const { stderr, status } = spawnSync(program, ["build", "-o", binary, file], {
        encoding: "utf8",
        env: { ...process.env, ...env },
      });
      expect(status, stderr).toBe(0);
      return [binary, []];
    });
    expect(result).toEqual({ grade: "B", failed: [] });
  });
});
