import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { apiOf } from "../support/api.ts";
import { startListener } from "../support/listener.ts";
import { BIN, type CliResult, cliEnv, createConfigDir, runCli, spawnCli } from "../support/run-cli.ts";
import { volume } from "../support/volume.ts";
import { type AuthProxy, startAuthProxy } from "./support/auth-proxy.ts";
import { signIn } from "./support/running-login.ts";
import { edit, expire, readStored, tokensIn } from "./support/stored.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const PROCESSES = 8;
const ROUNDS = volume(15, 2);
const TOKEN = "/oauth/token";

const on = ownedPlatform();

let dir: string;
let proxy: AuthProxy;
beforeEach(async () => {
  dir = createConfigDir();
  await signIn(on.platform, on.user, dir);
  proxy = await startAuthProxy(on.platform.baseUrl);
  edit(dir, { authUrl: proxy.url });
});
afterEach(() => proxy.close());

const service = (...args: string[]): Promise<CliResult> => runCli(args, { env: { SERVICE_CONFIG_DIR: dir } });
const spawnService = (...args: string[]): Promise<CliResult> => spawnCli(args, { env: { SERVICE_CONFIG_DIR: dir } });
const isAlive = async (): Promise<boolean> =>
  (await apiOf(on.platform.baseUrl, tokensIn(dir).access_token)("GET", "/v1/me")).status === 200;
const QUIET = { exitCode: 0, stdout: "", stderr: "" };

/** Expires the access token at the platform only. The settings do not know. */
async function endAccessToken(): Promise<void> {
  const form = new URLSearchParams({ token: tokensIn(dir).access_token, client_id: "app_service_cli" });
  await fetch(`${on.platform.baseUrl}/oauth/revoke`, { method: "POST", body: form });
}

describe("a command with tokens", () => {
  it("uses a fresh access token without loading the OAuth library", async () => {
    const before = readStored(dir);
    const child = spawn(process.execPath, [BIN, "customers", "list"], {
      env: { ...cliEnv({ SERVICE_CONFIG_DIR: dir }), NODE_DEBUG: "esm" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let loaded = "";
    child.stderr.on("data", (text) => (loaded += String(text)));
    expect(await once(child, "close")).toEqual([0, null]);
    expect(loaded).not.toContain("refresh-credentials");
    expect(proxy.count(TOKEN)).toBe(0);
    expect(readStored(dir)).toEqual(before);
  });

  it("renews a token that expires within a minute, and stores the new tokens", async () => {
    const before = tokensIn(dir);
    edit(dir, { tokens: { expires_at: new Date(Date.now() + 50_000).toISOString() } });
    expect(await service("customers", "list")).toEqual(QUIET);
    const after = tokensIn(dir);
    expect(after.access_token).not.toBe(before.access_token);
    expect(after.refresh_token).not.toBe(before.refresh_token);
    expect(Date.parse(after.expires_at) - Date.now()).toBeGreaterThan(3_500_000);
    expect(await service("customers", "list")).toEqual(QUIET);
    expect(proxy.count(TOKEN)).toBe(1);
  });

  it("renews once if the platform rejects a token that looks fresh, and continues", async () => {
    await endAccessToken();
    expect(await service("customers", "list")).toEqual(QUIET);
    expect(proxy.count(TOKEN)).toBe(1);
    expect(await isAlive()).toBe(true);
  });

  it("stops after one renewal if the new token is rejected too", async () => {
    proxy.intercept(TOKEN, (genuine) => {
      const { access_token, ...rest } = JSON.parse(genuine.body);
      return { ...genuine, body: JSON.stringify({ ...rest, access_token: `${access_token.slice(0, -1)}!` }) };
    });
    await endAccessToken();
    const { exitCode, stderr } = await service("customers", "list");
    expect(exitCode).toBe(4);
    expect(stderr).toContain("service login");
    expect(proxy.count(TOKEN)).toBe(1);
  });

  it("reports that the session has expired and how to sign in: exit 4", async () => {
    const form = new URLSearchParams({ token: tokensIn(dir).refresh_token, client_id: "app_service_cli" });
    await fetch(`${on.platform.baseUrl}/oauth/revoke`, { method: "POST", body: form });
    expect(await service("customers", "list")).toEqual({
      exitCode: 4,
      stdout: "",
      stderr: 'Error: The session of profile "default" has expired\nSign in again: service login\n',
    });
  });
});

describe("a renewal that fails", () => {
  it.each([
    ["the server is out of order", () => ({ status: 503, body: "<html>busy</html>" })],
    ["the connection breaks", () => undefined],
  ])("keeps the credentials if %s, and succeeds later", async (_how, respond) => {
    const before = tokensIn(dir);
    expire(dir);
    proxy.intercept("/oauth/token", respond);
    const { exitCode, stdout, stderr } = await service("customers", "list");
    expect([1, 7]).toContain(exitCode);
    expect(stdout).toBe("");
    expect(stderr).toContain("Error:");
    expect(tokensIn(dir)).toMatchObject({ refresh_token: before.refresh_token });
    proxy.intercept(TOKEN, (genuine) => genuine);
    expect(await service("customers", "list")).toEqual(QUIET);
  });

  it("is ignored while the access token is still valid", async () => {
    edit(dir, { tokens: { expires_at: new Date(Date.now() + 50_000).toISOString() } });
    proxy.intercept(TOKEN, () => ({ status: 502, body: "" }));
    expect(await service("customers", "list")).toEqual(QUIET);
  });

  it("does not use a refresh token if its successor cannot be stored", async () => {
    expire(dir);
    const [file, real] = [join(dir, "config.json"), join(dir, "real.json")];
    renameSync(file, real);
    symlinkSync(real, file);
    const { exitCode, stderr } = await service("customers", "list");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("is a symbolic link");
    expect(proxy.count(TOKEN)).toBe(0);
    renameSync(real, file);
    expect(await service("customers", "list")).toEqual(QUIET);
  });

  it("reports that another process has held the lock for more than a minute, and what to do", async () => {
    expire(dir);
    const lock = join(dir, "session-default-sandbox.lock");
    writeFileSync(lock, "another process");
    vi.useFakeTimers({ toFake: ["performance"] });
    const passing = setInterval(() => vi.advanceTimersByTime(61_000), 50);
    const { exitCode, stderr } = await service("customers", "list");
    clearInterval(passing);
    vi.useRealTimers();
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Cannot renew the session: another process has been renewing it for a minute\n");
    expect(stderr).toContain(`delete ${lock}`);
  });

  it("reports the server that cannot be reached, and exits with 7", async () => {
    expire(dir);
    edit(dir, { authUrl: "http://127.0.0.1:9" });
    const { exitCode, stderr } = await service("customers", "list");
    expect(exitCode).toBe(7);
    expect(stderr).toContain("nothing listens on 127.0.0.1:9");
    expect(tokensIn(dir).type).toBe("oauth");
  });
});

describe(`${PROCESSES} processes with one expired token, ${ROUNDS} rounds`, () => {
  it("renew it once per round without a failed command", async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      expire(dir);
      const results = await Promise.all(Array.from({ length: PROCESSES }, () => spawnService("customers", "list")));
      expect(results).toEqual(results.map(() => QUIET));
      expect(proxy.count(TOKEN)).toBe(round);
    }
    expect(await isAlive()).toBe(true);
    expect(readdirSync(dir)).toEqual(["config.json"]);
  });

  it("keep the session if one is killed between rotation and write", async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      expire(dir);
      const rotated = new Promise<void>((resolve) => {
        // The platform has rotated the token, but its response never arrives, and the waiting process has the lock.
        proxy.intercept(TOKEN, () => {
          resolve();
          return new Promise(() => {});
        });
      });
      const child = spawn(process.execPath, [BIN, "customers", "list"], { env: cliEnv({ SERVICE_CONFIG_DIR: dir }) });
      await rotated;
      const others = Array.from({ length: PROCESSES - 1 }, () => spawnService("customers", "list"));
      proxy.intercept(TOKEN, (genuine) => genuine);
      child.kill("SIGKILL");
      await once(child, "exit");
      const results = await Promise.all(others);
      expect(results).toEqual(results.map(() => QUIET));
      expect(await isAlive()).toBe(true);
    }
  });
});

describe("service listen", () => {
  it("renews an expired token before it connects", async () => {
    expire(dir);
    const listener = await startListener({ SERVICE_CONFIG_DIR: dir, SERVICE_BASE_URL: on.platform.baseUrl }, []);
    expect(proxy.count(TOKEN)).toBe(1);
    expect(await listener.interrupt()).toBe(0);
  });

  it("renews a token that looks fresh if the platform rejects it", async () => {
    await endAccessToken();
    const listener = await startListener({ SERVICE_CONFIG_DIR: dir, SERVICE_BASE_URL: on.platform.baseUrl }, []);
    expect(proxy.count(TOKEN)).toBe(1);
    expect(await listener.interrupt()).toBe(0);
  });

  it("continues with the session of another sign-in once its own was revoked", async () => {
    const { access_token: token } = tokensIn(dir);
    const listener = await startListener({ SERVICE_CONFIG_DIR: dir, SERVICE_BASE_URL: on.platform.baseUrl }, []);
    await signIn(on.platform, on.user, dir);
    const form = new URLSearchParams({ token, client_id: "app_service_cli" });
    await fetch(`${on.platform.baseUrl}/oauth/revoke`, { method: "POST", body: form });
    await listener.record(({ event }) => event === "restored" || event === "summary");
    expect(listener.records.map(({ event }) => event)).toContain("restored");
    expect(await listener.interrupt()).toBe(0);
  });

  it("exits with 4 if the session has expired", async () => {
    const form = new URLSearchParams({ token: tokensIn(dir).refresh_token, client_id: "app_service_cli" });
    await fetch(`${on.platform.baseUrl}/oauth/revoke`, { method: "POST", body: form });
    expire(dir);
    expect(await service("listen")).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("has expired") });
  });
});
