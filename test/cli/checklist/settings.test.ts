import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { json, startServer } from "../../client/support/scripted-server.ts";
import { kitPlatform } from "../../testing/kit.ts";
import { createConfigDir, runCli } from "../../support/run-cli.ts";
import { runInTerminal } from "../../support/terminal.ts";

const platform = kitPlatform();

interface Entry {
  key: string;
  value: unknown;
  source: string;
}

async function baseUrl(env: Record<string, string>, ...flags: string[]): Promise<[unknown, string]> {
  const { stdout } = await runCli(["config", "list", "--json", ...flags], { env });
  const { value, source } = (JSON.parse(stdout) as Entry[]).find(({ key }) => key === "base_url")!;
  return [value, source];
}

describe("settings", () => {
  it("come from the flag, the environment, the profile or the default, in this order", async () => {
    const env = { SERVICE_CONFIG_DIR: createConfigDir() };
    expect(await baseUrl(env)).toEqual(["http://127.0.0.1:4010", "default"]);
    await runCli(["config", "set", "base_url", "https://profile.example"], { env });
    expect(await baseUrl(env)).toEqual(["https://profile.example", "profile default"]);
    const environment = { ...env, SERVICE_BASE_URL: "https://environment.example" };
    expect(await baseUrl(environment)).toEqual(["https://environment.example", "SERVICE_BASE_URL"]);
    expect(await baseUrl(environment, "--base-url", "https://flag.example")).toEqual([
      "https://flag.example",
      "--base-url",
    ]);
    const session = runInTerminal(["config", "list"], { env: environment });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/^base_url +https:\/\/environment\.example +SERVICE_BASE_URL/m);
  });

  it("are stored in the XDG directory, readable only by their owner", async () => {
    const home = mkdtempSync(join(tmpdir(), "service-home-"));
    const login = (env: Record<string, string | undefined>) =>
      runCli(["login", "--api-key-stdin", "--base-url", platform.baseUrl], {
        env: { SERVICE_CONFIG_DIR: undefined, ...env },
        input: platform.apiKey,
      });
    expect((await login({ HOME: home })).exitCode).toBe(0);
    expect((await login({ HOME: "/nowhere", XDG_CONFIG_HOME: join(home, "xdg") })).exitCode).toBe(0);
    for (const folder of [join(home, ".config/service"), join(home, "xdg/service")]) {
      expect(readdirSync(folder)).toEqual(["config.json"]);
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(statSync(join(folder, "config.json")).mode & 0o777).toBe(0o600);
    }
  });

  it("list in help every environment variable that the CLI reads", async () => {
    const folder = fileURLToPath(new URL("../../../src/cli", import.meta.url));
    const code = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
    const names = new Set(
      [...code.matchAll(/\benv(?:\["|\.)(SERVICE_\w+|\w+_PROXY|NO_COLOR|FORCE_COLOR)\b/g)].map(([, name]) => name!),
    );
    expect(names.size).toBeGreaterThan(8);
    const { stdout } = await runCli(["help", "environment"]);
    for (const name of names) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it("never make a command contact anything but the platform", async () => {
    const list = { object: "list", data: [], has_more: false, next_cursor: null };
    const server = await startServer(json(200, list));
    const elsewhere = await startServer(json(200, {}));
    const env = { SERVICE_API_KEY: "sk_sandbox_x", HTTP_PROXY: elsewhere.url, HTTPS_PROXY: elsewhere.url };
    for (const args of [["--help"], ["--version"], ["customers", "list", "--base-url", server.url]]) {
      expect((await runCli(args, { env })).exitCode).toBe(0);
    }
    expect(server.requests).toHaveLength(1);
    expect(elsewhere.requests).toEqual([]);
  });
});
