import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { startServer } from "../client/support/scripted-server.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startListener } from "../support/listener.ts";
import { BIN, cliEnv, createConfigDir } from "../support/run-cli.ts";

const on = cliOnPlatform();
const { service } = on;

async function wrongUsage(args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await service(args);
  expect([exitCode, stdout]).toEqual([2, ""]);
  return stderr;
}

describe("flags", () => {
  it("reports unknown flags before missing ones", async () => {
    const stderr = await wrongUsage(["customers", "create", "--emial", "ada@example.com", "--name", "--x"]);
    expect(stderr).toMatch(/Unknown option "--emial"\nDid you mean --email\?\nSee `service customers create --help`/);
  });

  it("does not read a flag as the value of the previous one", async () => {
    expect(await wrongUsage(["customers", "create", "--email", "--name", "Ada"])).toContain("--email needs a value");
    expect(await wrongUsage(["customers", "list", "--profile", "--json"])).toContain("--profile needs a value");
  });

  it.each([
    [["customers", "list", "--base-url", ""], "Is the shell variable set?"],
    [["customers", "list", "--profile", ""], "Is the shell variable set?"],
    [["serve", "--database", ""], "Is the shell variable set?"],
    [["serve", "--ephemeral", "--database", "platform.db"], "cannot be combined with"],
    [
      ["trigger", "order.created", "--override", "amount=1", "--override", "amount=2"],
      '--override: "amount" is repeated',
    ],
    [["listen", "--since", "evt_1"], "an event ID"],
    [["listen", "--forward-to", "localhost:3000,localhost:3001"], "--route"],
    [["customers", "list", "--base-url", "http://127.0.0.1:4010/v1"], "Use http://127.0.0.1:4010"],
  ])("rejects %j as a usage error", async (args, message) => {
    expect(await wrongUsage(args)).toContain(message);
  });
});

describe("service listen", () => {
  it("warns at the start if nothing listens at the target", async () => {
    // Another test may take a free port in the meantime.
    const target = "localhost:1";
    const listener = await startListener(on.platform.env, ["--forward-to", target]);
    expect(await listener.record(({ event }) => event === "hint")).toMatchObject({
      message: expect.stringContaining(`Nothing listens on ${target} yet`),
    });
    expect(await listener.interrupt()).toBe(0);
  });

  it("prints the secret that it signs with", async () => {
    const listener = await startListener(on.platform.env, ["--secret", "whsec_of_the_application"]);
    expect(listener.records[0]).toMatchObject({ event: "ready", secret: "whsec_of_the_application" });
    await listener.interrupt();
    const args = ["listen", "--secret", "whsec_of_the_application", "--", process.execPath, "-e", ""];
    expect((await service(args)).stderr).toMatch(/secret +from --secret/);
  });
});

it("webhooks verify accepts a header that includes its name", async () => {
  const payload = join(createConfigDir(), "event.json");
  writeFileSync(payload, '{"id":"evt_1"}');
  const secret = ["--secret", "whsec_x", "--payload", payload];
  const header = (await service(["webhooks", "sign", ...secret])).stdout.trim();
  const { exitCode } = await service(["webhooks", "verify", ...secret, "--header", `service-signature: ${header}`]);
  expect(exitCode).toBe(0);
});

describe("a server that is not the platform", () => {
  it.each(["null", "[]", '{"hello":1}', '"text"'])("exits with an error if the server returns %s", async (json) => {
    const { url } = await startServer((_request, response) => {
      response.writeHead(200, { "Content-Type": "application/json" }).end(json);
    });
    for (const args of [["customers", "list"], ["whoami"]]) {
      const { exitCode, stdout, stderr } = await service(args, { env: { SERVICE_BASE_URL: url } });
      expect([exitCode, stdout]).toEqual([7, ""]);
      expect(stderr).toContain("Another server responded");
    }
  });
});

it.each([["customers", "list", "--json"], ["--version"], ["--help"]])(
  "%s fails if its output is lost",
  async (...args) => {
    const full = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [BIN, ...args], {
      env: cliEnv(on.platform.env),
      stdio: ["ignore", full, "pipe"],
    });
    closeSync(full);
    const [stderr, [status]] = await Promise.all([text(child.stderr!), once(child, "close")]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("Cannot write to stdout (ENOSPC)")]);
  },
);

it("a command suggests removing an empty settings file", async () => {
  const directory = createConfigDir();
  writeFileSync(join(directory, "config.json"), "");
  const { exitCode, stderr } = await service(["whoami"], { env: { SERVICE_CONFIG_DIR: directory } });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`rm ${join(directory, "config.json")}`)]);
  expect(stderr).not.toContain("may still contain your keys");
});
