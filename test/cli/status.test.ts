import { describe, expect, it } from "vitest";
import { startServer } from "../client/support/scripted-server.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { loginEnv, signIn } from "./support/running-login.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const on = ownedPlatform();

async function status(env: Record<string, string>, ...args: string[]) {
  const { exitCode, stdout, stderr } = await runCli(["status", "--json", ...args], { env });
  return { exitCode, stderr, status: JSON.parse(stdout) as Record<string, Record<string, unknown>> };
}

describe("service status", () => {
  it("shows a working setup with a browser session", async () => {
    const dir = createConfigDir();
    await signIn(on.platform, on.user, dir);
    const { exitCode, stderr, status: all } = await status({ SERVICE_CONFIG_DIR: dir });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(all).toMatchObject({
      platform: { base_url: on.platform.baseUrl, base_url_source: "profile default", reachable: true, problem: null },
      auth: { auth_url: on.platform.baseUrl },
      versions: { api: "2026-11-01", supported: ["2026-11-01"] },
      clock_ahead_seconds: 0,
      profile: { name: "default", source: "current profile" },
      environment: "sandbox",
      credential: { state: "works", type: "oauth", source: "profile default", problem: null },
      account: { id: on.platform.ready.account },
    });
    expect(all["platform"]!["latency_ms"]).toBeGreaterThan(0);
    expect(Date.parse(String(all["credential"]!["expires_at"]))).toBeGreaterThan(Date.now());
    const { stdout } = await runCli(["status"], { env: { SERVICE_CONFIG_DIR: dir } });
    expect(stdout).toContain("credential\tBrowser sign-in from profile default is valid; renewed automatically, next ");
  });

  it("exits with 4 without a credential, and with a rejected key", async () => {
    const env = loginEnv(on.platform, createConfigDir());
    expect(await status(env)).toMatchObject({ exitCode: 4, status: { credential: { state: "missing" } } });
    const rejected = { ...env, SERVICE_API_KEY: on.platform.sandboxKey.slice(0, -2) };
    expect(await status(rejected)).toMatchObject({
      exitCode: 4,
      status: { credential: { state: "refused", source: "SERVICE_API_KEY" } },
    });
  });

  it("exits with 7 if the platform is unreachable, and says why", async () => {
    const { exitCode, status: all } = await status({ ...on.platform.env, SERVICE_BASE_URL: "http://127.0.0.1:9" });
    expect(exitCode).toBe(7);
    expect(all).toMatchObject({
      platform: {
        reachable: false,
        latency_ms: null,
        problem: expect.stringContaining("nothing listens on 127.0.0.1:9"),
      },
      credential: { state: "unknown" },
    });
  });

  it.each([
    ["behind", 3600, -3600],
    ["ahead of", -3600, 3600],
  ])("reports a clock that is an hour %s the platform's", async (message, offset, ahead) => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, {
        "Content-Type": "application/json",
        Date: new Date(Date.now() + offset * 1000).toUTCString(),
      });
      response.end("{}");
    });
    const { status: all } = await status({ SERVICE_BASE_URL: server.url });
    expect(Math.abs(Number(all["clock_ahead_seconds"]) - ahead)).toBeLessThan(60);
    const { stdout } = await runCli(["status"], { env: { SERVICE_BASE_URL: server.url } });
    expect(stdout).toMatch(new RegExp(`clock\t(1 h|59 min \\d+ s) ${message} the platform\n`));
  });
});
