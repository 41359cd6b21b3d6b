import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";
import { decideDevice, loginEnv, spawnLogin, startLogin } from "./support/running-login.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const on = ownedPlatform();

describe.concurrent("service login --device", () => {
  it("signs in once the code is entered elsewhere, and stores the tokens privately", async () => {
    const dir = join(createConfigDir(), "new");
    const login = await startLogin(["--device"], loginEnv(on.platform, dir));
    expect(login.announcement).toMatchObject({
      verification_uri: `${on.platform.baseUrl}/oauth/device`,
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      expires_in: 600,
    });
    await decideDevice(on.user, login.announcement, "approve");
    const { exitCode, stdout, stderr } = await login.ended;
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      object: "identity",
      account: { id: on.platform.ready.account },
      environment: "sandbox",
      credential: { kind: "access_token" },
    });
    expect(stderr).toBe(`${JSON.stringify(login.announcement)}\n`);

    const text = readFileSync(join(dir, "config.json"), "utf8");
    const stored = JSON.parse(text).profiles.default.credentials.sandbox;
    expect(stored).toMatchObject({ type: "oauth", scopes: expect.arrayContaining(["customers:read", "listen:read"]) });
    expect(stdout + stderr).not.toContain(stored.access_token);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, "config.json")).mode & 0o777).toBe(0o600);
    expect(await runCli(["customers", "list"], { env: { SERVICE_CONFIG_DIR: dir } })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("signs in to live mode with --live, in addition to the sandbox", async () => {
    const dir = createConfigDir();
    for (const flags of [["--device"], ["--device", "--live"]]) {
      const login = await startLogin(flags, loginEnv(on.platform, dir));
      await decideDevice(on.user, login.announcement, "approve");
      expect((await login.ended).exitCode).toBe(0);
    }
    const environments = await Promise.all(
      [[], ["--live"]].map(async (flags) => {
        const { stdout } = await runCli(["whoami", "--json", ...flags], { env: { SERVICE_CONFIG_DIR: dir } });
        return JSON.parse(stdout).environment as string;
      }),
    );
    expect(environments).toEqual(["sandbox", "live"]);
  });

  it("requests only the scopes of --scope", async () => {
    const dir = createConfigDir();
    const login = await startLogin(["--device", "--scope", "customers:read,read_orders"], loginEnv(on.platform, dir));
    await decideDevice(on.user, login.announcement, "approve");
    const { stdout } = await login.ended;
    expect(JSON.parse(stdout).scopes).toEqual(["customers:read", "orders:read"]);
    const rejected = await runCli(["customers", "create", "--email", "a@example.com"], {
      env: { SERVICE_CONFIG_DIR: dir },
    });
    expect(rejected).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("customers:write") });
  });

  it("reports a denial, and stores nothing", async () => {
    const dir = createConfigDir();
    const login = await startLogin(["--device"], loginEnv(on.platform, dir));
    await decideDevice(on.user, login.announcement, "deny");
    const { exitCode, stdout, stderr } = await login.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(JSON.parse(stderr.trim().split("\n").at(-1)!)).toMatchObject({ code: "access_denied" });
    expect((await runCli(["whoami"], { env: loginEnv(on.platform, dir) })).exitCode).toBe(4);
  });

  it("stops after --timeout", async () => {
    const { exitCode, stdout, stderr } = await runCli(["login", "--device", "--timeout", "1s"], {
      env: loginEnv(on.platform, createConfigDir()),
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("Error: Sign-in timed out after 1 s\n");
  });

  it("exits with 130 at Ctrl-C", async () => {
    const login = await spawnLogin(["--device"], loginEnv(on.platform, createConfigDir()));
    login.interrupt();
    expect((await login.ended).exitCode).toBe(130);
  });

  it.each([
    ["over SSH", { SSH_CONNECTION: "192.0.2.1 1 192.0.2.2 22", DISPLAY: ":0" }],
    ["without a display", {}],
  ])("is chosen automatically %s, with the reason", async (reason, environment) => {
    const terminal = runInTerminal(["login", "--live", "--timeout", "1s"], {
      env: { ...loginEnv(on.platform, createConfigDir()), ...environment },
      columns: 400,
    });
    expect(await terminal.ended).toBe(1);
    const text = terminal.text().replaceAll("\r", "");
    const { baseUrl } = on.platform;
    const { port } = new URL(baseUrl);
    expect(text).toContain(
      `No browser can be opened ${reason}; to try it anyway, pass --browser.\n` +
        `Open this page in any browser, and check that it shows this code:\n  ${baseUrl}/oauth/device?user_code=`,
    );
    expect(text).toContain(`forward the port first:\n  ssh -L ${port}:127.0.0.1:${port} USER@THIS_MACHINE\n`);
  });

  const REQUIRED =
    "Cannot sign in without terminal input\n" +
    "In scripts, pass --api-key-stdin or set SERVICE_API_KEY. To wait for someone with a browser, pass --device.";

  it("is required without a terminal, even on a desktop", async () => {
    const env = { ...loginEnv(on.platform, createConfigDir()), DISPLAY: ":0" };
    expect(await runCli(["login"], { env })).toEqual({ exitCode: 2, stdout: "", stderr: `Error: ${REQUIRED}\n` });
  });

  it.each([
    ["with --no-input", ["--no-input"], {}],
    ["in CI", [], { CI: "true" }],
  ])("is required %s", async (_where, flags, environment) => {
    const env = { ...loginEnv(on.platform, createConfigDir()), ...environment };
    const terminal = runInTerminal(["login", ...flags], { env, columns: 400 });
    expect(await terminal.ended).toBe(2);
    expect(terminal.text().replaceAll("\r", "")).toContain(REQUIRED);
  });

  it("cannot be combined with flags of the browser flow", async () => {
    for (const flag of [["--no-browser"], ["--browser"], ["--callback-port", "8000"]]) {
      const { exitCode, stderr } = await runCli(["login", "--device", ...flag], {
        env: loginEnv(on.platform, createConfigDir()),
      });
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`--device cannot be combined with ${flag[0]}`);
    }
  });
});

describe("service login --scope", () => {
  it("rejects an unknown scope with the nearest name", async () => {
    const { exitCode, stderr } = await runCli(["login", "--scope", "customer:read"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Did you mean customers:read?");
  });
});
