import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Connection } from "../../src/platform/storage/sqlite/connection.ts";
import { loadSqlite } from "../../src/platform/storage/sqlite/runtime.ts";
import { type RunningPlatform, startPlatformOn } from "../support/platform.ts";
import { BIN, cliEnv, type CliResult, runCli } from "../support/run-cli.ts";

let folder: string;
let database: string;
let platform: RunningPlatform;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-serve-"));
  database = join(folder, "data", "platform.db");
  platform = await startPlatformOn(database, 0);
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
});

const serve = (args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
  runCli(["serve", "--port", "0", ...args], { env });

/** Expects `serve` to fail with this message on stderr and nothing on stdout. */
async function expectError(args: readonly string[], message: string, exitCode = 1, env = {}): Promise<void> {
  const result = await serve(args, env);
  expect(result).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(message) });
  expect(result.stderr).not.toContain("inside the program");
}

describe("an address", () => {
  it("rejects a public address unless a TLS proxy is in front", async () => {
    const hosts = ["0.0.0.0", "::", "", "192.0.2.1", "example.com", "0", "127.0.0.1.example.com"];
    await Promise.all(hosts.map((host) => expectError(["--ephemeral", "--host", host], "plain http", 2)));
  });

  it("reports the port that is in use, with and without --json", async () => {
    const blocker = createServer();
    await new Promise<void>((listening) => {
      blocker.listen(0, "127.0.0.1", listening);
    });
    const { port } = blocker.address() as AddressInfo;
    const args = ["serve", "--ephemeral", "--port", String(port)];
    expect(await runCli(args)).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringContaining(`Cannot listen on 127.0.0.1:${port}: the port is in use by`),
    });
    if (process.platform === "linux") {
      expect((await runCli(args)).stderr).toContain(`(process ${process.pid})\nStop that program`);
    }
    const { stderr, stdout } = await runCli([...args, "--json"]);
    expect([JSON.parse(stderr).code, stdout]).toEqual(["port_taken", ""]);
    await new Promise((closed) => blocker.close(closed));
  });

  it.each([
    ["--port", "65536"],
    ["--port", "-1"],
    ["--port", "80a"],
    ["--rate-limit", "often"],
    ["--public-url", "ftp://example.com"],
    ["--public-url", "https://example.com/path"],
    ["--public-url", "https://user:secret@example.com"],
    ["--trust-proxy", "everybody"],
    ["--trust-proxy", "10.0.0.0/33"],
  ])("rejects %s %s as a usage error", async (flag, value) => {
    const { exitCode, stdout } = await serve(["--ephemeral", flag, value]);
    expect([exitCode, stdout]).toEqual([2, ""]);
  });
});

describe("a database", () => {
  it("rejects a database that another process serves, and reports its process ID", async () => {
    await expectError(["--database", database], String(platform.pid));
  });

  it("rejects a folder, another file or another program's database, and leaves it unchanged", async () => {
    await expectError(["--database", folder], folder);
    const text = join(folder, "notes.txt");
    writeFileSync(text, "Not a database, but somebody's notes.".repeat(100), { mode: 0o644 });
    await expectError(["--database", text], text);
    expect(readFileSync(text, "utf8")).toContain("somebody's notes");
    expect(statSync(text).mode & 0o777).toBe(0o644);
    const foreign = join(folder, "foreign.db");
    const connection = new Connection(await loadSqlite(), foreign, { readOnly: false });
    connection.exec("CREATE TABLE recipes (name TEXT)");
    connection.close();
    const before = readFileSync(foreign);
    await expectError(["--database", foreign], "another program");
    expect(readFileSync(foreign)).toEqual(before);
  });

  it("reports a database folder that cannot be created", async () => {
    await expectError(["--database", "/proc/x/y.db"], "/proc/x/y.db cannot be written");
    await expectError(["--ephemeral", "--master-key-file", "/proc/x/y.key"], "/proc/x");
  });

  it("is reported with its location if that is not writable", async () => {
    await expectError(["--database", "/dev/null/platform.db"], "/dev/null");
    await expectError(["--database", "/proc/platform.db"], "/proc");
  });

  it("rejects a database from a newer version", async () => {
    const newer = join(folder, "newer.db");
    await (await startPlatformOn(newer, 0)).stop();
    const connection = new Connection(await loadSqlite(), newer, { readOnly: false });
    connection.exec("INSERT INTO schema_migrations VALUES (9999, 'later', '99.0.0', 'digest')");
    connection.close();
    await expectError(["--database", newer], "99.0.0");
  });

  it("stops listening if the administrator's file cannot be written", async () => {
    const own = join(folder, "taken.db");
    mkdirSync(`${own}.admin`);
    expect(await serve(["--database", own])).toMatchObject({ exitCode: 1, stdout: "" });
  });

  it("rejects an unsupported URL without printing its password", async () => {
    const { exitCode, stderr } = await serve(["--database", "mysql://root:hunter2@127.0.0.1/service"]);
    expect(exitCode).toBe(2);
    expect(stderr).not.toContain("hunter2");
  });

  it("rejects :memory: and suggests the flag for a temporary database", async () => {
    await expectError(["--database", ":memory:"], "service serve --ephemeral", 2);
  });
});

describe("the first keys", () => {
  const first = async (own: string, flags: readonly string[]) => {
    const child = spawn(process.execPath, [BIN, "serve", "--port", "0", "--database", own, ...flags], {
      env: cliEnv(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (/Ctrl-C|"ready".*\n/.test(printed)) child.kill("SIGTERM");
    }
    return printed;
  };

  it.each([[[]], [["--json"]]])("are not printed to a log by serve %j", async (flags) => {
    const own = join(folder, `first${flags.length}`, "platform.db");
    const printed = await first(own, flags);
    const file = `${own}.credentials`;
    expect(printed).toContain(file);
    expect(printed).not.toMatch(/sk_(sandbox|live)_|token=/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      base_url: expect.stringMatching(/^http:/),
      account: expect.stringMatching(/^acct_/),
      sandbox_key: expect.stringMatching(/^sk_sandbox_/),
      live_key: expect.stringMatching(/^sk_live_/),
      sign_in_url: expect.stringContaining("/sign-in/link?token="),
    });
    expect(await first(own, flags)).not.toContain("credentials");
  });

  it("are those of the first start that can listen", async () => {
    const own = join(folder, "busy", "platform.db");
    await expectError(["--database", own, "--port", new URL(platform.baseUrl).port], "the port is in use");
    expect(await first(own, [])).toContain(`${own}.credentials`);
  });

  it("are followed at each start by how to sign in", async () => {
    const own = join(folder, "again", "platform.db");
    for (const printed of [await first(own, []), await first(own, [])]) {
      expect(printed).toMatch(
        /Sign in from another terminal:\n  \$ .*serve link --database .*\n  \$ .*login --base-url http/,
      );
    }
  });

  it("are not printed if their file cannot be written", async () => {
    const own = join(folder, "blocked", "platform.db");
    mkdirSync(`${own}.credentials`, { recursive: true });
    expect(await first(own, ["--json"])).not.toMatch(/sk_(sandbox|live)_|token=|credentials_file/);
  });
});

describe("the master key", () => {
  it("is stored outside the database, and both are readable only by their owner", () => {
    for (const name of [database, `${database}.key`, `${database}.admin`]) {
      expect(statSync(name).mode & 0o777, name).toBe(0o600);
    }
    expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700);
  });

  it("prevents the start if it is wrong, too short or missing", async () => {
    const own = join(folder, "own", "platform.db");
    await (await startPlatformOn(own, 0)).stop();
    const before = readFileSync(`${own}.key`, "utf8");
    const given = (key: string) => ({ SERVICE_MASTER_KEY: key });
    await expectError(["--database", own], "another master key", 1, given("a".repeat(64)));
    await expectError(["--database", own], "32 bytes", 1, given("abc"));
    writeFileSync(`${own}.key`, "");
    await expectError(["--database", own], "32 bytes");
    rmSync(`${own}.key`);
    await expectError(["--database", own], `${own}.key does not exist`);
    // No new file was created, which a later start would take for the right one.
    expect(existsSync(`${own}.key`)).toBe(false);
    writeFileSync(`${own}.key`, before);
    await (await startPlatformOn(own, 0)).stop();
  });

  it("is never printed, even if it is invalid", async () => {
    const { stdout, stderr } = await serve(["--ephemeral", "--debug"], { SERVICE_MASTER_KEY: "hunter2-is-no-key" });
    expect(stdout + stderr).toContain("32 bytes");
    expect(stdout + stderr).not.toContain("hunter2");
  });

  it("becomes private at the next start if others could read its file", async () => {
    const own = join(folder, "open", "platform.db");
    await (await startPlatformOn(own, 0)).stop();
    chmodSync(`${own}.key`, 0o644);
    await (await startPlatformOn(own, 0)).stop();
    expect(statSync(`${own}.key`).mode & 0o777).toBe(0o600);
    expect(existsSync(`${own}.admin`)).toBe(false);
  });
});

it("serve rejects an untrusted source of leak report keys", async () => {
  for (const source of ["http://keys.example.com/", "ftp://keys.example.com/"]) {
    await expectError(["--ephemeral", "--leak-keys", source], "https URL", 2);
  }
});
