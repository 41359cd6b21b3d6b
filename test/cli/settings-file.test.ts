import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { withLock } from "../../src/cli/settings/lock.ts";
import { startNode } from "../support/platform.ts";
import { kitPlatform } from "../testing/kit.ts";
import { BIN, createConfigDir, runCli, spawnCli } from "../support/run-cli.ts";
import { volume } from "../support/volume.ts";

const platform = kitPlatform();

const STORED = JSON.stringify({
  version: 1,
  current_profile: "default",
  profiles: { default: { base_url: "http://127.0.0.1:9", auth_url: "http://127.0.0.1:9", credentials: {} } },
});

function withFile(text: string, mode = 0o600): { dir: string; path: string } {
  const dir = createConfigDir();
  const path = join(dir, "config.json");
  writeFileSync(path, text, { mode });
  return { dir, path };
}

const login = (env: Record<string, string | undefined>) =>
  runCli(["login", "--api-key-stdin", "--base-url", platform.baseUrl], { env, input: platform.apiKey });

describe("a settings file that cannot be used", () => {
  it.each([
    ["of 0 bytes", "", "is empty"],
    ["cut off", STORED.slice(0, 40), "is corrupt"],
    ["of something else", "[]", "does not contain a JSON object"],
    ["of a newer version", JSON.stringify({ version: 2, shape: "new" }), "was written by a newer version"],
    [
      "with a broken profile",
      JSON.stringify({ version: 1, profiles: { default: "x" } }),
      "contains an invalid profile",
    ],
    [
      "with an address of 1 MB",
      JSON.stringify({ version: 1, profiles: { default: { base_url: `https://${"é".repeat(500_000)}/` } } }),
      "contains an invalid profile",
    ],
    ["with a version that is not a number", JSON.stringify({ version: [[1]] }), "has an invalid version"],
    [
      "with a profile that has no name",
      JSON.stringify({ version: 1, current_profile: 5 }),
      "has an invalid current_profile",
    ],
  ])("is reported with an explanation and kept if it %s", async (_name, text, reason) => {
    const { dir, path } = withFile(text);
    const env = { SERVICE_CONFIG_DIR: dir };
    for (const result of [await runCli(["whoami"], { env }), await login(env)]) {
      expect(result).toMatchObject({ exitCode: 1, stdout: "" });
      expect(result.stderr).toContain(`${path} ${reason}`);
      expect(result.stderr).toMatch(/mv |rm |SERVICE_CONFIG_DIR/);
    }
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("is reported with an explanation and kept if it is a folder", async () => {
    const dir = createConfigDir();
    mkdirSync(join(dir, "config.json"));
    expect(await login({ SERVICE_CONFIG_DIR: dir })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is a folder, not a file"),
    });
    expect(statSync(join(dir, "config.json")).isDirectory()).toBe(true);
  });

  it("is not written through a symbolic link", async () => {
    const dir = createConfigDir();
    const target = join(createConfigDir(), "elsewhere.json");
    writeFileSync(target, STORED, { mode: 0o600 });
    symlinkSync(target, join(dir, "config.json"));
    expect(await login({ SERVICE_CONFIG_DIR: dir })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is a symbolic link"),
    });
    expect(readFileSync(target, "utf8")).toBe(STORED);
  });
});

describe("a manually edited profile", () => {
  const written = (profile: object): Record<string, string> => {
    const folder = createConfigDir();
    writeFileSync(join(folder, "config.json"), JSON.stringify({ version: 1, profiles: { default: profile } }), {
      mode: 0o600,
    });
    return { SERVICE_CONFIG_DIR: folder };
  };

  it("needs only a URL", async () => {
    const env = written({ base_url: "http://127.0.0.1:4010" });
    const { exitCode, stdout } = await runCli(["profiles", "list", "--json"], { env });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ name: "default", auth_url: "http://127.0.0.1:4010", credentials: [] }]);
    expect(await runCli(["logout"], { env })).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining("is not signed in"),
    });
  });

  it.each([
    { base_url: "http://127.0.0.1:4010", credentials: { sandbox: null } },
    { base_url: "http://127.0.0.1:4010", auth_url: 5 },
  ])("is rejected if it is invalid: %j", async (profile) => {
    const { exitCode, stderr } = await runCli(["logout"], { env: written(profile) });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining("contains an invalid profile"),
    });
  });
});

describe("the modes of file and folder", () => {
  it("are reported if others can read the file, and corrected at the next write", async () => {
    const { dir, path } = withFile(STORED, 0o644);
    chmodSync(path, 0o644);
    const env = { SERVICE_CONFIG_DIR: dir };
    const { stderr } = await runCli(["whoami"], { env });
    expect(stderr).toContain(`Warning: ${path} is readable by other users. Run: chmod 600 ${path}`);
    const json = await runCli(["customers", "list", "--json"], { env });
    expect(
      json.stderr
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toEqual([
      { warning: expect.stringContaining("is readable by other users") },
      expect.objectContaining({ code: "not_signed_in", exit_code: 4 }),
    ]);
    expect((await login(env)).exitCode).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await runCli(["whoami"], { env })).stderr).toBe("");
  });

  it.each(["000", "077"])("do not depend on the umask: %s", async (umask) => {
    const dir = join(createConfigDir(), "deep", "folder");
    const script = `umask ${umask}; exec "$0" "$@"`;
    const child = spawn(
      "sh",
      ["-c", script, process.execPath, BIN, "login", "--api-key-stdin", "--base-url", platform.baseUrl],
      {
        env: { PATH: "/usr/bin:/bin", SERVICE_CONFIG_DIR: dir },
        stdio: ["pipe", "ignore", "ignore"],
      },
    );
    child.stdin.end(platform.apiKey);
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, "config.json")).mode & 0o777).toBe(0o600);
  });
});

describe("the folder of the settings file", () => {
  it("is XDG_CONFIG_HOME/service, else ~/.config/service", async () => {
    const home = createConfigDir();
    await login({ HOME: home, SERVICE_CONFIG_DIR: undefined });
    expect(existsSync(join(home, ".config", "service", "config.json"))).toBe(true);
    const xdg = createConfigDir();
    await login({ HOME: home, XDG_CONFIG_HOME: xdg, SERVICE_CONFIG_DIR: undefined });
    expect(existsSync(join(xdg, "service", "config.json"))).toBe(true);
  });

  it("need not exist for a command that has everything it needs", async () => {
    const env = { ...platform.env, HOME: undefined, SERVICE_CONFIG_DIR: "/dev/null/nowhere" };
    expect(await runCli(["customers", "list"], { env })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  it("is reported if it cannot be created", async () => {
    const env = { SERVICE_CONFIG_DIR: "/proc/x/y" };
    const { exitCode, stderr } = await runCli(["config", "set", "update_notices", "false"], { env });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining("Cannot write /proc/x/y/config.json"),
    });
  });

  it("is reported if it cannot be written", async () => {
    expect(await login({ SERVICE_CONFIG_DIR: "/dev/null/nowhere" })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("Cannot write /dev/null/nowhere/config.json (ENOTDIR)"),
    });
  });
});

describe("without a home folder", () => {
  const env = { HOME: "", SERVICE_CONFIG_DIR: undefined };

  it("a command that needs it suggests the variable to set", async () => {
    expect(await spawnCli(["config", "set", "update_notices", "false"], { env })).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "Error: No home folder for the settings\nSet SERVICE_CONFIG_DIR to a folder.\n",
    });
    expect(await spawnCli(["serve", "--port", "0"], { env, cwd: createConfigDir() })).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "Error: No home folder for the data\nSet XDG_DATA_HOME to a folder.\n",
    });
    const { stdout } = await spawnCli(["doctor", "--json"], { env, cwd: createConfigDir() });
    expect(JSON.parse(stdout)).toContainEqual({
      id: "data_folder",
      title: "Data folder",
      status: "failed",
      detail: "No home folder for the data",
      advice: "Set XDG_DATA_HOME to a folder.",
    });
  });

  it("settings are stored in SERVICE_CONFIG_DIR", async () => {
    const withoutAccount = `import os from "node:os"; os.homedir = () => { throw new Error("no account"); };
      import { syncBuiltinESMExports } from "node:module"; syncBuiltinESMExports();`;
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(withoutAccount)}`;
    const named = { HOME: undefined, NODE_OPTIONS, SERVICE_CONFIG_DIR: createConfigDir() };
    const { exitCode, stderr } = await spawnCli(["config", "set", "update_notices", "false"], { env: named });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining("Error") });
    const { stdout } = await spawnCli(["config", "get", "update_notices"], { env: named });
    expect(stdout).toBe("false\n");
  });

  it("a command that gets its files as arguments works", async () => {
    const homeless = await startNode(join(createConfigDir(), "platform.db"), [], undefined, { HOME: "" });
    expect(await spawnCli(["customers", "list"], { env: { ...homeless.env, ...env } })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
    expect(await homeless.stop()).toBe(0);
  });
});

describe("several processes that write at once", () => {
  const WRITERS = 8;
  const WRITES = volume(100, 15);

  it("keep each other's changes", async () => {
    const folder = mkdtempSync(join(tmpdir(), "service-writer-"));
    await build({
      entryPoints: [fileURLToPath(new URL("support/settings-writer.ts", import.meta.url))],
      outfile: join(folder, "writer.cjs"),
      bundle: true,
      platform: "node",
      format: "cjs",
      logLevel: "warning",
    });
    const dir = createConfigDir();
    const exits = Array.from({ length: WRITERS }, async (_, writer) => {
      const child = spawn(process.execPath, [join(folder, "writer.cjs"), dir, String(writer), String(WRITES)], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      const [code] = (await once(child, "exit")) as [number | null];
      return code;
    });
    expect(await Promise.all(exits)).toEqual(Array(WRITERS).fill(0));
    const { profiles } = JSON.parse(readFileSync(join(dir, "config.json"), "utf8")) as { profiles: object };
    expect(Object.keys(profiles)).toHaveLength(WRITERS * WRITES);
    expect(existsSync(join(dir, "config.json.lock"))).toBe(false);
  });

  it.each([hostname(), `${hostname()}/pid:[1]/boot`])(
    "do not break a lock that a process of %s holds",
    async (space) => {
      const lock = join(createConfigDir(), "config.json.lock");
      // No process here has the highest ID, but one may where the lock's owner runs: a container with the same host
      // name.
      const owner = `4194304 ${space} holder`;
      writeFileSync(lock, owner);
      const waiting = new AbortController();
      let hasRun = false;
      const attempt = withLock(lock, async () => void (hasRun = true), waiting.signal);
      expect(readFileSync(lock, "utf8")).toBe(owner);
      waiting.abort(new Error("enough"));
      await expect(attempt).rejects.toThrow("enough");
      expect(hasRun).toBe(false);
    },
  );

  it("take over the lock of a killed process", async () => {
    const dir = createConfigDir();
    const lock = join(dir, "config.json.lock");
    mkdirSync(lock);
    const past = new Date(Date.now() - 60_000);
    utimesSync(lock, past, past);
    expect((await login({ SERVICE_CONFIG_DIR: dir })).exitCode).toBe(0);
    expect(existsSync(lock)).toBe(false);
  });
});
