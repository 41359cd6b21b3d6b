import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { DRIVER } from "../../src/platform/storage/sqlite/runtime.ts";
import { runCli, spawnCli } from "../support/run-cli.ts";
import { ENTER, runInTerminal } from "../support/terminal.ts";

/** Makes Node.js behave like versions before 22.13, in a project without the driver. */
const WITHOUT_SQLITE = `
  import { register } from "node:module";
  const getBuiltinModule = process.getBuiltinModule;
  process.getBuiltinModule = (id) => (id === "node:sqlite" ? undefined : getBuiltinModule(id));
  register("data:text/javascript," + encodeURIComponent(\`export const resolve = (name, context, next) => {
    if (name === "${DRIVER.name}") throw new Error("not installed");
    return next(name, context);
  };\`));
`;
const SERVE = ["serve", "--ephemeral", "--port", "0"];

/** The environment of a Node.js without SQLite, with an empty data folder. */
let env: Record<string, string>;
let data: string;

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "service-driver-"));
  const preload = join(folder, "without-sqlite.mjs");
  writeFileSync(preload, WITHOUT_SQLITE);
  data = join(folder, "data");
  mkdirSync(data);
  // The installation of this checkout has stored the driver in npm's cache.
  const cache = process.env["npm_config_cache"] ?? join(homedir(), ".npm");
  env = { NODE_OPTIONS: `--import ${preload}`, XDG_DATA_HOME: data, npm_config_cache: cache };
});

const installed = () => readdirSync(data, { recursive: true }).map(String);

it("the driver has one version everywhere", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const { devDependencies, peerDependencies } = manifest as Record<string, Record<string, string>>;
  expect([devDependencies?.[DRIVER.name], peerDependencies?.[DRIVER.name]]).toEqual([DRIVER.version, DRIVER.version]);
});

it("a Node.js with SQLite needs no driver", async () => {
  const { exitCode, stdout, stderr } = await runCli(["db", "install-driver", "--json"], {
    env: { XDG_DATA_HOME: data },
  });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toEqual({ sqlite_version: expect.stringMatching(/^3\./), installed: false });
  expect(installed()).toEqual([]);
  const piped = await runCli(["db", "install-driver"], { env: { XDG_DATA_HOME: data } });
  expect(piped.stderr).toMatch(/^SQLite 3\.\S+ is available\. Nothing was installed\.\n$/);
});

describe("a Node.js without SQLite", () => {
  it("cannot run the demo, which says so in sentences", async () => {
    const { exitCode, stdout } = await spawnCli(["demo", "--once"], { env });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/✗ This Node\.js \([^)]+\) has no SQLite built in\n +Use Node\.js 22\.13 or later, or /);
    expect(stdout).not.toContain("{");
  });

  it("cannot check a client, which says so at once", async () => {
    const { exitCode, stdout, stderr } = await spawnCli(["faults", "check", "--", "node", "-e", "1"], { env });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Error: This Node\.js \([^)]+\) has no SQLite built in\nUse Node\.js 22\.13 or later, or /);
  });

  it.each([
    ["a warning for who needs no platform here", "platform: { url: https://api.example.com }", "warning"],
    ["a failure in the folder of a platform", "platform: { port: auto }", "failed"],
  ])("is %s", async (_what, content, status) => {
    const cwd = mkdtempSync(join(tmpdir(), "service-driver-"));
    writeFileSync(join(cwd, "service.yaml"), `${content}\n`);
    const { stdout } = await spawnCli(["doctor", "--json", "--jq", '.[] | select(.id == "sqlite").status'], {
      env,
      cwd,
    });
    expect(stdout).toBe(`${status}\n`);
  });

  it("fails to serve, and suggests the command that installs a driver for all commands", async () => {
    const refused = await spawnCli([...SERVE, "--json"], { env });
    expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
    expect(JSON.parse(refused.stderr)).toMatchObject({
      code: "driver_missing",
      hint: expect.stringMatching(/Use Node\.js 22\.13 or later, or .*: service db install-driver$/),
    });

    const { exitCode, stdout, stderr } = await spawnCli(["db", "install-driver", "--json"], { env });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({ sqlite_version: expect.stringMatching(/^3\./), installed: true });
    const builds = installed().filter((path) => /prebuilds[\\/][^\\/]+$/.test(path));
    expect(builds.map((path) => path.split(/[\\/]/).at(-1))).toEqual([`${process.platform}-${process.arch}`]);

    const database = join(data, "platform.db");
    const backup = join(data, "backup.db");
    for (const args of [["migrate"], ["status"], ["backup", backup], ["restore", backup, "--yes"]]) {
      const done = await spawnCli(["db", ...args, "--json", "--database", database], { env });
      expect(done, args[0]).toMatchObject({ exitCode: 0, stderr: "" });
    }
  });

  it("asks in a terminal before it downloads", async () => {
    const declined = runInTerminal(SERVE, { env });
    await declined.waitFor("Download it from npm? (Y/n)");
    declined.type(`n${ENTER}`);
    expect(await declined.ended).toBe(1);
    expect(declined.text()).toContain("service db install-driver");
    expect(installed()).toEqual([]);

    const accepted = runInTerminal(SERVE, { env });
    await accepted.waitFor("(Y/n)");
    accepted.type(ENTER);
    await accepted.waitFor(/http:\/\/127\.0\.0\.1:\d+/);
    expect(accepted.text()).toContain("Installed SQLite");
    accepted.type("\u0003");
    expect(await accepted.ended).toBe(0);
  });

  it.each([[["demo"]], [["dev"]], [["faults", "check", "--", "true"]]])(
    "asks in a terminal before %s",
    async (command) => {
      const cwd = mkdtempSync(join(tmpdir(), "service-driver-"));
      writeFileSync(join(cwd, "service.yaml"), "platform: { port: auto }\n");
      const declined = runInTerminal(command, { env, cwd });
      await declined.waitFor("Download it from npm? (Y/n)");
      declined.type(`n${ENTER}`);
      expect(await declined.ended).toBe(1);
      expect(declined.text()).toMatch(/service(?:-cli)?\s+db\s+install-driver|bin\/service\.js db install-driver/);
    },
  );

  it("leaves no files after a failed download, and reports the failure", async () => {
    const registry = {
      npm_config_registry: "http://127.0.0.1:9",
      npm_config_cache: data,
    };
    const { exitCode, stderr } = await spawnCli(["db", "install-driver"], { env: { ...env, ...registry } });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^Error: Cannot install ${DRIVER.name} ${DRIVER.version}: No connection to npm's registry\nConnect to the network .*22\\.13(.|\n)*ECONNREFUSED`,
      ),
    );
    expect(readdirSync(join(data, "service"))).toEqual([]);
  });

  it("reports that npm is missing", async () => {
    const { exitCode, stderr } = await spawnCli(["db", "install-driver"], { env: { ...env, PATH: data } });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("npm must be installed")]);
  });
});
