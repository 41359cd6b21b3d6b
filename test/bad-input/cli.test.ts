import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signedInUser, signIn } from "../cli/support/running-login.ts";
import { expire, tokensIn } from "../cli/support/stored.ts";
import { startServer } from "../client/support/scripted-server.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { freePort } from "../support/free-port.ts";
import { startListener } from "../support/listener.ts";
import { startReceiver } from "../support/receiver.ts";
import { BIN, cliEnv, createConfigDir, runCli } from "../support/run-cli.ts";

const on = cliOnPlatform();
const { service } = on;

describe("values", () => {
  it("accepts empty metadata values and values with =", async () => {
    const args = [
      "customers",
      "create",
      "--email",
      "a@example.com",
      "--metadata",
      "a=",
      "--metadata",
      "b=c=d",
      "--json",
    ];
    expect(JSON.parse((await service(args)).stdout).metadata).toEqual({ a: "", b: "c=d" });
  });

  it("reads words after -- as values, not as flags", async () => {
    expect(await service(["customers", "get", "--", "--help"])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('The customer "--help" does not exist'),
    });
  });

  it.each(["a\nb", "", "a b", "é", "k".repeat(256)])("rejects a value that no header can contain: %j", async (key) => {
    for (const command of [
      ["customers", "create", "--email", "b@example.com"],
      ["api", "POST", "/v1/customers", "-f", "email=b@example.com"],
    ]) {
      const { exitCode, stderr } = await service([...command, "--idempotency-key", key]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("must be 1 to 255")]);
    }
  });

  it.each([
    [["listen", "--forward-to", "localhost:99999"], "99999"],
    [["listen", "--forward-to", "/tmp/app.sock"], "file path"],
    [["listen", "--forward-to", "http://ada:hunter2@localhost:1"], "user name and password"],
    [["listen", "-H", "A: b\r\nC: d"], "--header"],
    [["listen", "--secret", ""], "--secret"],
    [["api", "POST", "/v1/customers", "-f", "__proto__.x=1"], "__proto__"],
    [["api", "POST", "/v1/customers", "-f", "constructor.prototype.x=1"], "constructor"],
    [["customers", "list", "--fields", "__proto__"], "__proto__"],
    [["config", "set", "__proto__", "x"], "__proto__"],
    [["config", "set", "base_url", "javascript:alert(1)"], "does not begin with http:// or https://"],
    [["config", "set", "base_url", "https://ada:hunter2@example.com"], "user name or password"],
    [["whoami", "--profile", "__proto__"], "Invalid profile name"],
    [["whoami", "--base-url", "http://example.com"], "clear text"],
  ])("rejects service %j as a usage error", async (args, message) => {
    const { exitCode, stdout, stderr } = await service(args);
    expect([exitCode, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
    expect(stderr).not.toContain("hunter2");
  });

  it.each(["ключ", "sk_sandbox_\u007f", "a b"])("rejects an impossible API key: %j", async (key) => {
    const { exitCode, stderr } = await service(["whoami"], { env: { SERVICE_API_KEY: key } });
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining("invalid characters")]);
    expect(stderr).not.toContain(key);
  });

  it("accepts a profile named like an inherited property", async () => {
    const env = { SERVICE_CONFIG_DIR: createConfigDir(), SERVICE_API_KEY: undefined };
    expect((await service(["whoami", "--profile", "toString"], { env })).stderr).toContain(
      'Profile "toString" (from --profile) does not exist',
    );
    const login = ["login", "--api-key-stdin", "--profile", "constructor", "--base-url", on.platform.baseUrl];
    expect((await runCli(login, { env, input: on.platform.sandboxKey })).exitCode).toBe(0);
    expect((await service(["whoami", "--profile", "constructor"], { env })).exitCode).toBe(0);
  });
});

describe("streams", () => {
  const inShell = async (redirections: string, args: string): Promise<[number | null, string]> => {
    const child = spawn("sh", ["-c", `"$0" "$1" ${args} ${redirections}`, process.execPath, BIN], {
      env: cliEnv(on.platform.env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
    const [code] = (await once(child, "close")) as [number | null];
    return [code, output];
  };

  it("survives closed streams", async () => {
    expect(await inShell(">&-", "customers list")).toEqual([0, ""]);
    expect((await inShell("2>&-", "customers list"))[0]).toBe(0);
    expect(await inShell(">&- 2>&-", "customers get cus_1")).toEqual([3, ""]);
    expect(await inShell("<&-", "login --api-key-stdin")).toEqual([2, expect.stringContaining("stdin is empty")]);
  });

  it("stops reading an endless API key", async () => {
    expect(await inShell("< /dev/null", "login --api-key-stdin")).toEqual([
      2,
      expect.stringContaining("stdin is empty"),
    ]);
    const { exitCode, stderr } = await runCli(["login", "--api-key-stdin", "--base-url", on.platform.baseUrl], {
      input: Buffer.alloc(3_000_000),
    });
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining("Incomplete or mistyped API key")]);
    expect(stderr.length).toBeLessThan(1000);
  });
});

describe("reads a response of any shape", () => {
  it.each([
    ["a title that is not text", { title: { a: 1 }, detail: [], code: 7, request_id: null }],
    ["errors that are not a list", { detail: "no", errors: "many" }],
    ["errors of another shape", { detail: "no", errors: [null, 5, {}, { pointer: 1, code: 2, detail: 3 }] }],
    ["a list", []],
    ["nothing", null],
    ["text that would redraw the terminal", { title: "\u001b[2J\u009b2J\u202e", detail: "\u001b[2J\u009b2J\u202e" }],
  ])("%s", async (_what, document) => {
    const { url } = await startServer((_request, response) => {
      response.writeHead(400, { "Content-Type": "application/problem+json" }).end(JSON.stringify(document));
    });
    for (const flags of [[], ["--json"]]) {
      const { exitCode, stdout, stderr } = await service(["customers", "list", ...flags], {
        env: { SERVICE_BASE_URL: url },
      });
      expect([exitCode, stdout]).toEqual([1, ""]);
      expect(stderr).not.toContain("inside the program");
      expect(stderr).not.toMatch(/[\u001b\u009b\u202e]/);
    }
  });
});

describe("a wrong clock", () => {
  /** Returns the Node.js options that shift `Date` and nothing else. */
  function movedBy(milliseconds: number): string {
    const file = join(createConfigDir(), "clock.cjs");
    writeFileSync(
      file,
      `const Real = Date;
       globalThis.Date = class extends Real {
         constructor(...parts) { if (parts.length === 0) super(Real.now() + ${milliseconds}); else super(...parts); }
         static now() { return Real.now() + ${milliseconds}; }
       };`,
    );
    return `--require=${file}`;
  }

  it("runs a command with a key although the clock is wrong by decades", async () => {
    const NODE_OPTIONS = movedBy(-Date.now());
    expect((await service(["customers", "list"], { env: { NODE_OPTIONS } })).exitCode).toBe(0);
    const { exitCode, stdout } = await service(["status"], { env: { NODE_OPTIONS } });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^failed\tclock\t\d{5} days .*behind the platform/m);
  });

  it("renews a session at most once if the clock is an hour off", async () => {
    const user = await signedInUser(on.platform);
    for (const hours of [-1, 1]) {
      const dir = createConfigDir();
      await signIn(on.platform, user, dir);
      const env = { SERVICE_CONFIG_DIR: dir, SERVICE_API_KEY: undefined, NODE_OPTIONS: movedBy(hours * 3_600_000) };
      if (hours === -1) expire(dir);
      expect(await service(["customers", "list", "--limit", "1", "--quiet"], { env })).toMatchObject({ exitCode: 0 });
      const renewed = tokensIn(dir).access_token;
      expect(await service(["customers", "list", "--limit", "1", "--quiet"], { env })).toMatchObject({ exitCode: 0 });
      expect(tokensIn(dir).access_token).toBe(renewed);
    }
  });
});

it("service listen waits for the target to start, then delivers", async () => {
  const port = await freePort();
  const listener = await startListener(on.platform.env, ["--forward-to", `127.0.0.1:${port}`]);
  await service(["trigger", "customer.created"]);
  const { id } = await listener.record(({ event }) => event === "received");
  const receiver = await startReceiver(() => listener.secret, port);
  await receiver.until(() => receiver.events.length > 0);
  expect(await listener.record(({ event }) => event === "forwarded")).toMatchObject({ id, status: 204, attempt: 1 });
  expect(await listener.interrupt()).toBe(0);
  await receiver.close();
});
