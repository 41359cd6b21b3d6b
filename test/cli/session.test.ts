import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatCredential } from "../../src/contract/credentials.ts";
import { json as respond, startServer } from "../client/support/scripted-server.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { type CliResult, createConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";

let platform: ServedPlatform;
let other: ServedPlatform;
beforeAll(async () => {
  [platform, other] = await Promise.all([servePlatform(), servePlatform()]);
});
afterAll(async () => {
  await Promise.all([platform.stop(), other.stop()]);
});

const ANOTHER_KEY = formatCredential("sk_sandbox_", new Uint8Array(32).fill(7));

function terminalOf(dir: string) {
  return (args: readonly string[], env: Record<string, string> = {}, input?: string): Promise<CliResult> =>
    runCli(args, { env: { SERVICE_CONFIG_DIR: dir, ...env }, ...(input === undefined ? {} : { input }) });
}

async function signedIn(): Promise<{ dir: string; service: ReturnType<typeof terminalOf> }> {
  const dir = createConfigDir();
  const service = terminalOf(dir);
  const login = await service(
    ["login", "--api-key-stdin", "--base-url", platform.baseUrl],
    {},
    `${platform.sandboxKey}\n`,
  );
  expect(login).toMatchObject({ exitCode: 0, stderr: "" });
  return { dir, service };
}

const whoami = async (
  service: ReturnType<typeof terminalOf>,
  args: string[] = [],
  env: Record<string, string> = {},
) => {
  const { exitCode, stdout, stderr } = await service(["whoami", "--json", ...args], env);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout) as { account: { id: string }; environment: string; cli: Record<string, string> };
};

describe("service login --api-key-stdin", () => {
  it("stores the key in a file that only its owner can read", async () => {
    const dir = join(createConfigDir(), "new");
    const service = terminalOf(dir);
    const { exitCode, stdout } = await service(
      ["login", "--api-key-stdin", "--base-url", platform.baseUrl, "--json"],
      {},
      platform.sandboxKey,
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ object: "identity", account: { id: platform.ready.account } });
    expect(stdout).not.toContain(platform.sandboxKey);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, "config.json")).mode & 0o777).toBe(0o600);
    expect(await service(["customers", "list"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  it("keeps the keys of both environments in one profile", async () => {
    const { service } = await signedIn();
    await service(["login", "--api-key-stdin", "--base-url", platform.baseUrl], {}, platform.liveKey);
    expect((await whoami(service)).environment).toBe("sandbox");
    expect((await whoami(service, ["--live"])).environment).toBe("live");
  });

  it("shows what a profile with only a live key may do, and names --live where the sandbox is needed", async () => {
    const dir = createConfigDir();
    const service = terminalOf(dir);
    await service(
      ["login", "--api-key-stdin", "--base-url", platform.baseUrl, "--profile", "prod"],
      {},
      platform.liveKey,
    );
    const prod = ["--profile", "prod"];
    const shown = await service(["whoami", ...prod]);
    expect(shown.stdout).toContain("environment\tlive\n");
    expect(shown.stderr).toBe("The profile is signed in to live mode only: other commands need --live with it.\n");
    for (const command of ["status", "doctor"]) {
      const { exitCode, stdout } = await service([command, ...prod]);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^ok\tcredential\tAPI key from profile prod is valid in live mode, with /m);
    }
    expect(await service(["orders", "list", ...prod])).toEqual({
      exitCode: 4,
      stdout: "",
      stderr:
        'Error: Profile "prod" is signed in to live mode only\nAdd --live, or sign in to the sandbox: service login --profile prod\n',
    });
    const id = "ord_0351NTzgPnbMlENaoDYtbf";
    expect((await service(["orders", "get", id, "--live", ...prod])).stderr).toContain(
      `Look in the sandbox, without --live: service orders get ${id} --profile prod\n`,
    );
    const terminal = runInTerminal(["orders", "get", id, "--live", ...prod], {
      env: { SERVICE_CONFIG_DIR: dir },
      columns: 60,
    });
    await terminal.ended;
    expect(terminal.text()).toMatch(/without --live:\s+service orders get \w+\s+--profile prod\s*$/);
    expect((await service(["why", id, "--live", "--profile=prod"])).stderr).toContain(`why ${id} --profile prod\n`);
  });

  it.each([
    ["cut off", (key: string) => key.slice(0, -3)],
    ["with a character changed", (key: string) => `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`],
    ["no key at all", () => "hunter2"],
  ])("rejects a key that is %s before sending it", async (_name, spoil) => {
    const server = await startServer(respond(200, {}));
    const dir = createConfigDir();
    const args = ["login", "--api-key-stdin", "--base-url", server.url];
    const { exitCode, stderr } = await terminalOf(dir)(args, {}, spoil(platform.sandboxKey));
    expect(exitCode).toBe(4);
    expect(stderr).toContain("Incomplete or mistyped API key");
    expect(server.requests).toEqual([]);
    expect(existsSync(join(dir, "config.json"))).toBe(false);
  });

  it("stores nothing if the platform does not know the key", async () => {
    const dir = createConfigDir();
    const args = ["login", "--api-key-stdin", "--base-url", platform.baseUrl];
    expect(await terminalOf(dir)(args, {}, ANOTHER_KEY)).toMatchObject({ exitCode: 4, stdout: "" });
    expect(existsSync(join(dir, "config.json"))).toBe(false);
  });

  it("reports an empty stdin", async () => {
    const args = ["login", "--api-key-stdin", "--base-url", platform.baseUrl];
    expect(await terminalOf(createConfigDir())(args)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("stdin is empty"),
    });
  });

  it("does not replace the keys for another platform", async () => {
    const { dir, service } = await signedIn();
    const before = readFileSync(join(dir, "config.json"), "utf8");
    const args = ["login", "--api-key-stdin", "--base-url", other.baseUrl];
    const { exitCode, stderr } = await service(args, {}, other.sandboxKey);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Profile "default" is signed in to ${platform.baseUrl}`);
    expect(readFileSync(join(dir, "config.json"), "utf8")).toBe(before);
    await service([...args, "--profile", "other"], {}, other.sandboxKey);
    expect((await whoami(service, ["--profile", "other"])).account.id).toBe(other.ready.account);
    expect((await whoami(service)).account.id).toBe(platform.ready.account);
  });
});

describe("service whoami", () => {
  it("shows the source of each setting: flag, environment, profile or default", async () => {
    const { service } = await signedIn();
    expect((await whoami(service)).cli).toMatchObject({
      profile: "default",
      profile_source: "current profile",
      base_url: platform.baseUrl,
      base_url_source: "profile default",
      credential_source: "profile default",
    });
    const env = { SERVICE_API_KEY: platform.sandboxKey, SERVICE_BASE_URL: platform.baseUrl };
    expect((await whoami(service, [], env)).cli).toMatchObject({
      base_url_source: "SERVICE_BASE_URL",
      credential_source: "SERVICE_API_KEY",
    });
    expect((await whoami(service, ["--base-url", `${platform.baseUrl}/`], env)).cli).toMatchObject({
      base_url_source: "--base-url",
    });
    const chosen = await whoami(service, ["--profile", "default"], { SERVICE_API_KEY: "sk_sandbox_x" });
    expect(chosen.cli).toMatchObject({ profile_source: "--profile", credential_source: "profile default" });
    const { stdout } = await service(
      ["whoami", "--json", "--api-key-stdin"],
      { SERVICE_API_KEY: "sk_sandbox_x" },
      platform.sandboxKey,
    );
    expect(JSON.parse(stdout)).toMatchObject({ cli: { credential_source: "--api-key-stdin" } });
  });

  it("takes the profile from the environment, and the flag over it", async () => {
    const { service } = await signedIn();
    await service(
      ["login", "--api-key-stdin", "--base-url", other.baseUrl, "--profile", "other"],
      {},
      other.sandboxKey,
    );
    const env = { SERVICE_PROFILE: "other" };
    expect((await whoami(service, [], env)).cli).toMatchObject({ profile: "other", profile_source: "SERVICE_PROFILE" });
    expect((await whoami(service, ["--profile", "default"], env)).cli).toMatchObject({
      profile: "default",
      profile_source: "--profile",
    });
  });

  it("exits with 4 without a credential", async () => {
    expect(await terminalOf(createConfigDir())(["whoami"])).toEqual({
      exitCode: 4,
      stdout: "",
      stderr: expect.stringMatching(
        /^Error: Not signed in: profile "default" .*\n(No platform listens at http:\/\/127\.0\.0\.1:4010, so start one first\.\n)?For a platform in this folder, run `service dev init`, then `service dev`\. For one without a project, run `service serve`\.\nSign in with `service login`, or set SERVICE_API_KEY\.\n$/,
      ),
    });
  });

  it("names the file with the first keys of the default platform", async () => {
    const data = createConfigDir();
    const file = join(data, "service", "platform.db.credentials");
    mkdirSync(join(data, "service"));
    writeFileSync(file, JSON.stringify({ base_url: "http://127.0.0.1:4010", sandbox_key: "sk_sandbox_x" }));
    const env = { SERVICE_CONFIG_DIR: createConfigDir(), XDG_DATA_HOME: data };
    const { stderr } = await runCli(["customers", "list"], { env });
    expect(stderr).toContain(`\nSet SERVICE_API_KEY to the sandbox_key in ${file}, which \`service serve\` wrote.\n`);
    const other = await runCli(["customers", "list", "--base-url", platform.baseUrl], { env });
    expect(other.stderr).not.toContain(file);
  });

  it("names the URL of --base-url in the command to sign in there", async () => {
    const { stderr } = await terminalOf(createConfigDir())(["customers", "list", "--base-url", platform.baseUrl]);
    expect(stderr).toContain(`Sign in with \`service login --base-url ${platform.baseUrl}\`, or set SERVICE_API_KEY.`);
  });

  it("exits with 4 if the platform rejects the key", async () => {
    const env = { SERVICE_API_KEY: ANOTHER_KEY, SERVICE_BASE_URL: platform.baseUrl };
    const { exitCode, stderr } = await terminalOf(createConfigDir())(["whoami"], env);
    expect(exitCode).toBe(4);
    expect(stderr).toContain("401 invalid_credential");
    expect(stderr).not.toContain(ANOTHER_KEY);
  });

  it("lists the profiles if the profile is unknown", async () => {
    const { service } = await signedIn();
    expect(await service(["whoami", "--profile", "shop"])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("Profiles: default."),
    });
    expect(await service(["whoami", "--profile", "constructor"])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('Profile "constructor" (from --profile) does not exist'),
    });
  });
});

describe("a stored key", () => {
  it("is sent to its own origin only", async () => {
    const { service } = await signedIn();
    const trap = await startServer(respond(200, {}));
    for (const result of [
      await service(["whoami", "--base-url", trap.url]),
      await service(["whoami"], { SERVICE_BASE_URL: trap.url }),
    ]) {
      expect(result).toMatchObject({ exitCode: 4, stdout: "" });
      expect(result.stderr).toContain(`is for ${platform.baseUrl}; it is not sent to ${trap.url}`);
    }
    expect(trap.requests).toEqual([]);
  });

  it("is not sent over plain http to another machine", async () => {
    const env = { SERVICE_API_KEY: platform.sandboxKey };
    const { exitCode, stderr } = await terminalOf(createConfigDir())(["whoami", "--base-url", "http://192.0.2.1"], env);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Plain http to 192.0.2.1 would send the credential in clear text");
  });
});

describe("the environment of a key", () => {
  it.each([
    ["a live key without --live", () => platform.liveKey, [], "pass --live"],
    ["a sandbox key with --live", () => platform.sandboxKey, ["--live"], "Remove --live"],
  ])("is checked: %s", async (_name, key, args, hint) => {
    const env = { SERVICE_API_KEY: key(), SERVICE_BASE_URL: platform.baseUrl };
    const { exitCode, stderr } = await terminalOf(createConfigDir())(["customers", "list", ...args], env);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(hint);
  });

  it("rejects a key that contains a line break", async () => {
    const env = { SERVICE_API_KEY: "sk_sandbox_a\nb", SERVICE_BASE_URL: platform.baseUrl };
    expect(await terminalOf(createConfigDir())(["whoami"], env)).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining("The API key contains invalid characters"),
    });
  });
});

describe("service logout", () => {
  it("deletes the key", async () => {
    const { dir, service } = await signedIn();
    expect(await service(["logout"])).toMatchObject({ exitCode: 0, stdout: "" });
    expect(readFileSync(join(dir, "config.json"), "utf8")).not.toContain("sk_sandbox_");
    expect(await service(["whoami"])).toMatchObject({ exitCode: 4 });
    expect(await service(["logout"])).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining("is not signed in"),
    });
    expect(await service(["logout", "--profile", "zz"])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('Profile "zz" (from --profile) does not exist\nProfiles: default.'),
    });
  });

  it("deletes those of all profiles with --all", async () => {
    const { dir, service } = await signedIn();
    await service(
      ["login", "--api-key-stdin", "--base-url", other.baseUrl, "--profile", "other"],
      {},
      other.sandboxKey,
    );
    const { stdout } = await service(["logout", "--all", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ signed_out: ["default", "other"] });
    expect(readFileSync(join(dir, "config.json"), "utf8")).not.toContain("sk_sandbox_");
  });

  it("warns that SERVICE_API_KEY is still used", async () => {
    const { service } = await signedIn();
    const { stderr } = await service(["logout"], { SERVICE_API_KEY: platform.sandboxKey });
    expect(stderr).toContain("SERVICE_API_KEY is still set");
  });
});
