import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliResult, createConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";

interface Entry {
  key: string;
  value: string | boolean;
  source: string;
}

/** Returns a function that runs `service config` with a new settings folder. */
function user(env: Record<string, string | undefined> = {}): (...args: string[]) => Promise<CliResult> {
  const folder = createConfigDir();
  return (...args) => runCli(args, { env: { SERVICE_CONFIG_DIR: folder, ...env } });
}

async function sourceOf(run: ReturnType<typeof user>, key: string, ...flags: string[]): Promise<[unknown, string]> {
  const { stdout } = await run("config", "list", "--json", ...flags);
  const { value, source } = (JSON.parse(stdout) as Entry[]).find((entry) => entry.key === key)!;
  return [value, source];
}

describe("service config", () => {
  it("prints one value, or all as a tab-separated list, or as a table on a terminal", async () => {
    const run = user();
    expect(await run("config", "get", "base_url")).toEqual({
      exitCode: 0,
      stdout: "http://127.0.0.1:4010\n",
      stderr: "",
    });
    expect((await run("config", "list")).stdout.split("\n")[1]).toMatch(
      /^base_url\thttp:\/\/127\.0\.0\.1:4010\tdefault\t/,
    );
    const session = runInTerminal(["config", "list"]);
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/^SETTING +VALUE +SOURCE/);
  });

  it("restores the default", async () => {
    const run = user({ SERVICE_NO_UPDATE_NOTIFIER: undefined });
    await run("config", "set", "update_notices", "false");
    expect(await sourceOf(run, "update_notices")).toEqual([false, "settings file"]);
    expect((await run("config", "unset", "update_notices")).exitCode).toBe(0);
    expect(await sourceOf(run, "update_notices")).toEqual([true, "default"]);
    await run("config", "set", "auth_url", "https://sign-in.example");
    await run("config", "set", "base_url", "https://api.example");
    expect(await sourceOf(run, "auth_url")).toEqual(["https://sign-in.example", "profile default"]);
    await run("config", "unset", "auth_url");
    expect(await sourceOf(run, "auth_url")).toEqual(["https://api.example", "profile default"]);
  });

  it("mentions the variable that disables update notices", async () => {
    const variable = { SERVICE_NO_UPDATE_NOTIFIER: undefined, DO_NOT_TRACK: "1" };
    expect(await sourceOf(user(variable), "update_notices")).toEqual([false, "DO_NOT_TRACK"]);
  });

  it("prints the path of the file", async () => {
    const folder = createConfigDir();
    const { stdout } = await runCli(["config", "path"], { env: { SERVICE_CONFIG_DIR: folder } });
    expect(stdout).toBe(`${join(folder, "config.json")}\n`);
  });

  it.each([
    [["set", "base_url", "http://example.com"], "clear text"],
    [["set", "base_url", "nonsense"], "is not a URL"],
    [["set", "update_notices", "maybe"], "update_notices: must be true or false"],
    [["get", "base-ur"], "Did you mean base_url?"],
    [["get", "api_key"], 'Unknown setting "api_key"'],
    [["get", "constructor"], 'Unknown setting "constructor"'],
  ])("rejects %j", async (args, reason) => {
    const { exitCode, stdout, stderr } = await user()("config", ...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(reason);
  });

  it("rejects a profile that does not exist", async () => {
    const { exitCode, stderr } = await user()("config", "set", "profile", "shop");
    expect(exitCode).toBe(3);
    expect(stderr).toContain('Profile "shop" does not exist');
  });

  it("does not use stored credentials for another URL", async () => {
    const folder = createConfigDir();
    const address = "https://one.example";
    const credentials = { sandbox: { type: "api_key", api_key: "sk_sandbox_x" } };
    const profiles = { default: { base_url: address, auth_url: address, credentials } };
    writeFileSync(join(folder, "config.json"), JSON.stringify({ version: 1, profiles }), { mode: 0o600 });
    for (const key of ["base_url", "auth_url"]) {
      const { exitCode, stdout, stderr } = await runCli(["config", "set", key, "https://two.example"], {
        env: { SERVICE_CONFIG_DIR: folder },
      });
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toContain("Cannot change the URL");
    }
    expect(readFileSync(join(folder, "config.json"), "utf8")).not.toContain("two.example");
  });

  it.each(["set", "unset"])("prints what %s stored, and warns if a variable overrides it", async (verb) => {
    const run = user({ SERVICE_BASE_URL: "https://three.example" });
    const value = verb === "set" ? "https://one.example" : "http://127.0.0.1:4010";
    const { stdout, stderr } = await run("config", verb, "base_url", ...(verb === "set" ? [value] : []));
    expect(stdout).toBe(`base_url\t${value}\n`);
    expect(stderr).toBe("Warning: SERVICE_BASE_URL is set and overrides the stored value.\n");
    expect(await sourceOf(run, "base_url")).toEqual(["https://three.example", "SERVICE_BASE_URL"]);
  });
});
