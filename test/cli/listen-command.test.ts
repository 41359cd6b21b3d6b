import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { BIN, type CliOptions, spawnCli } from "../support/run-cli.ts";
import { openScreen } from "../support/screen.ts";
import { listening, createFolder } from "./support/listening.ts";

const on = listening();
/** A separate process, because its child command sends it signals and writes to its streams. */
const service = (args: readonly string[], { env }: CliOptions = {}) =>
  spawnCli(args, { env: { ...on.platform.env, ...env } });

describe("a command after --", () => {
  it("starts with the secret once events are forwarded, and its exit code is passed on", async () => {
    const script = "console.log(process.env.SERVICE_WEBHOOK_SECRET); process.exit(7)";
    const args = ["listen", "--forward-to", on.receiver.url, "--", process.execPath, "-e", script];
    const { exitCode, stdout, stderr } = await service(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: `${on.secret}\n` });
    expect(stderr).toContain("Ready.");
    expect(stderr).toContain("Summary");
  });

  it("leaves stdout to --json", async () => {
    const args = ["listen", "--json", "--", process.execPath, "-e", "console.log('from the command')"];
    const { stdout, stderr } = await service(args);
    const records = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string });
    expect(records.map(({ event }) => event)).toEqual(["ready", "summary"]);
    expect(stderr).toContain("from the command");
  });

  it("receives events while it runs", async () => {
    const script = `
      const http = require("node:http");
      http.createServer((q, r) => { r.end(); q.resume().on("end", () => process.exit(0)); }).listen(PORT);
      require("node:child_process").spawn(process.execPath, [BIN, "trigger", "order.created"], { stdio: "ignore" });`;
    const port = await freePort();
    const bin = JSON.stringify(process.cwd() + "/bin/service.js");
    const code = script.replace("PORT", String(port)).replace("BIN", bin);
    const args = ["listen", "--forward-to", String(port), "--", process.execPath, "-e", code];
    expect((await service(args)).exitCode).toBe(0);
  });

  it("results in 127 if it is not found, and in 128 plus the signal's number if a signal stopped it", async () => {
    const missing = await service(["listen", "--", "no-such-command-here"]);
    expect(missing.exitCode).toBe(127);
    expect(missing.stderr).toContain("Error: Command not found: no-such-command-here");
    for (const program of ["/etc/passwd/below", ""]) {
      const { exitCode, stderr } = await service(["listen", "--", program]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 127, stderr: expect.stringContaining("Command not found: ") });
    }
    const killed = await service(["listen", "--", process.execPath, "-e", "process.kill(process.pid, 'SIGKILL')"]);
    expect(killed.exitCode).toBe(137);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("receives %s, and is given time to exit", async (signal) => {
    const ready = join(createFolder(), "ready");
    const script = `
      process.on("${signal}", () => { console.log("got ${signal}"); process.exit(3); });
      process.kill(process.ppid, "${signal}");
      setInterval(() => {}, 1000);`;
    const { exitCode, stdout } = await service(["listen", "--ready-file", ready, "--", process.execPath, "-e", script]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: `got ${signal}\n` });
    expect(existsSync(ready)).toBe(false);
  });

  it("is stopped some seconds after a SIGINT that only the listener received, on a terminal", async () => {
    const command = [process.execPath, "-e", "console.log('it runs'); setInterval(() => {}, 1000)"];
    const screen = openScreen(process.execPath, [BIN, "listen", "--", ...command], { env: on.platform.env });
    await screen.shows(/^it runs/m);
    process.kill(screen.pid, "SIGINT");
    expect(await screen.ended).toBe(143);
  });

  it("does not start if the ready file cannot be written", async () => {
    const { exitCode, stdout, stderr } = await service(["listen", "--ready-file", "/nope/ready", "--", "echo", "ran"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("--ready-file: cannot write /nope/ready: folder /nope does not exist");
  });

  it("is stopped when the platform rejects the listener permanently", async () => {
    const { stdout } = await service(["keys", "create", "--name", "short", "--scope", "listen:read", "--json"]);
    const { id, key } = JSON.parse(stdout) as { id: string; key: string };
    const revoke = `${process.execPath} ${process.cwd()}/bin/service.js keys revoke ${id} --yes`;
    const env = { SERVICE_API_KEY: key, OWNER_KEY: on.platform.sandboxKey };
    const script = `SERVICE_API_KEY=$OWNER_KEY ${revoke} >&2; exec sleep 60`;
    const { exitCode } = await service(["listen", "--", "sh", "-c", script], { env });
    expect(exitCode).toBe(4);
  });

  it("may be named like a subcommand, and receives all following words unchanged", async () => {
    const folder = createFolder();
    writeFileSync(join(folder, "replay"), '#!/bin/sh\necho "replay $*"\n', { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env["PATH"]!}` };
    const { exitCode, stdout } = await service(["listen", "-q", "--", "replay", "--help", "--", "-x"], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "replay --help -- -x\n" });
  });

  it.each([[["listen", "localhost:3000"]], [["listen", "localhost:3000", "--", "true"]]])(
    "must follow --: %j",
    async (args) => {
      const { exitCode, stderr } = await service(args);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("--forward-to localhost:3000");
    },
  );
});
