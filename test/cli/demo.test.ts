import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, spawnCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";

const folder = () => mkdtempSync(join(tmpdir(), "service-test-"));

describe("service demo", () => {
  it("--once exits with 0 if every step succeeded, and leaves nothing running", async () => {
    const TMPDIR = folder();
    const { exitCode, stdout, stderr } = await spawnCli(["demo", "--once", "--json"], { env: { TMPDIR } });
    expect([exitCode, stderr]).toEqual([0, ""]);
    const records = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.slice(0, -1).map(({ step, ok }) => [step, ok])).toEqual(
      ["Platform", "Receiver", "Sign in", "Customer", "Listen", "Trigger", "Failure", "Why"].map((step) => [
        step,
        true,
      ]),
    );
    expect(records.at(-2)!["detail"]).toContain("our application responded with 500");
    expect(records.at(-1)).toMatchObject({
      event: "delivered",
      verified: true,
      payload: { type: "order.completed", data: { object: { status: "completed" } } },
    });
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  it("ignores service.yaml in the current folder", async () => {
    const cwd = folder();
    writeFileSync(join(cwd, "service.yaml"), "platform: { url: http://127.0.0.1:9 }\n");
    const { exitCode, stderr } = await spawnCli(["demo", "--once", "--json"], { cwd });
    expect([exitCode, stderr]).toEqual([0, ""]);
  });

  it("--once exits with 1 if a step failed, and prints the step and the reason", async () => {
    const broken = join(folder(), "broken.cjs");
    writeFileSync(broken, 'if (process.argv[2] === "trigger") { console.error("Error: no."); process.exit(9); }');
    const { exitCode, stdout } = await spawnCli(["demo", "--once"], { env: { NODE_OPTIONS: `--require=${broken}` } });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/Trigger {5}\$ service trigger order\.completed\n +✗ Error: no\./);
    expect(stdout).not.toContain("Every step succeeded");
  });

  it("reports an unusable temporary folder", async () => {
    const { exitCode, stderr } = await spawnCli(["demo", "--once"], { env: { TMPDIR: "/nowhere" } });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/Cannot use the temporary folder .*\/nowhere.*\nSet TMPDIR/),
    ]);
  });

  it("keeps running, prints events, and removes everything at Ctrl-C", async () => {
    const TMPDIR = folder();
    const demo = runInTerminal(["demo"], { env: { TMPDIR }, columns: 200 });
    await demo.waitFor("Press Ctrl-C to stop the demo");
    expect(demo.text()).toMatch(/ http:\/\/127\.0\.0\.1:\d+\/sign-in\/link\?token=\S+/);
    const SERVICE_CONFIG_DIR = /SERVICE_CONFIG_DIR=(\S+)/.exec(demo.text())![1]!;
    expect((await runCli(["trigger", "payment.failed"], { env: { SERVICE_CONFIG_DIR } })).exitCode).toBe(0);
    await demo.waitFor(/✓ payment\.failed evt_\w{22} received; signature verified/);
    demo.type(CTRL_C);
    expect(await demo.ended).toBe(0);
    expect(readdirSync(TMPDIR)).toEqual([]);
  });
});
