import { beforeEach, describe, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { type CliResult, createConfigDir, runCli } from "../support/run-cli.ts";
import { loginEnv, signIn } from "./support/running-login.ts";
import { edit, readStored, tokensIn } from "./support/stored.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const on = ownedPlatform();

let dir: string;
beforeEach(() => {
  dir = createConfigDir();
});

const service = (args: readonly string[], env: Record<string, string> = {}, input?: string): Promise<CliResult> =>
  runCli(args, { env: { SERVICE_CONFIG_DIR: dir, ...env }, ...(input === undefined ? {} : { input }) });
const statusOf = async (token: string) => (await apiOf(on.platform.baseUrl, token)("GET", "/v1/me")).status;
const loginWithKey = (...args: string[]) =>
  service(["login", "--api-key-stdin", "--base-url", on.platform.baseUrl, ...args], {}, on.platform.sandboxKey);

describe("service logout", () => {
  it("revokes the session at the platform, then deletes it", async () => {
    await signIn(on.platform, on.user, dir);
    const { access_token } = tokensIn(dir);
    expect(await service(["logout", "--json"])).toEqual({
      exitCode: 0,
      stdout: `${JSON.stringify({ signed_out: ["default"], platform_not_told: [] })}\n`,
      stderr: "",
    });
    expect(await statusOf(access_token)).toBe(401);
    expect(JSON.stringify(readStored(dir))).not.toContain("at_");
    expect((await service(["whoami"])).exitCode).toBe(4);
  });

  it("deletes the session even if the platform is unreachable, and warns that it was not revoked", async () => {
    await signIn(on.platform, on.user, dir);
    edit(dir, { authUrl: "http://127.0.0.1:9" });
    const { exitCode, stderr } = await service(["logout"]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("Could not revoke the session of profile default at http://127.0.0.1:9");
    expect(JSON.stringify(readStored(dir))).not.toContain("rt_");
  });

  it("signs out of every profile and both environments with --all", async () => {
    await signIn(on.platform, on.user, dir);
    await signIn(on.platform, on.user, dir, ["--live"]);
    await signIn(on.platform, on.user, dir, ["--profile", "second"]);
    const tokens = Object.values(readStored(dir).profiles).flatMap(({ credentials }) =>
      Object.values(credentials).map(({ access_token }) => access_token),
    );
    expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200, 200]);
    await service(["logout", "--all"]);
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 401, 401]);
  });
});

describe("service login", () => {
  it("revokes the session that it replaces", async () => {
    await signIn(on.platform, on.user, dir);
    const { access_token: before } = tokensIn(dir);
    await signIn(on.platform, on.user, dir);
    expect([await statusOf(before), await statusOf(tokensIn(dir).access_token)]).toEqual([401, 200]);
  });

  it("revokes the session of a concurrent login", async () => {
    const [one, other] = [await on.begin([], dir), await on.begin([], dir)];
    await on.finish(one);
    const { access_token: before } = tokensIn(dir);
    await on.finish(other);
    expect([await statusOf(before), await statusOf(tokensIn(dir).access_token)]).toEqual([401, 200]);
  });

  it("revokes the session that a key replaces", async () => {
    await signIn(on.platform, on.user, dir);
    const { access_token } = tokensIn(dir);
    expect((await loginWithKey()).exitCode).toBe(0);
    expect(await statusOf(access_token)).toBe(401);
  });
});

describe("service whoami", () => {
  it("shows the source of each value", async () => {
    await signIn(on.platform, on.user, dir, ["--profile", "shop"]);
    const ask = async (env: Record<string, string>, ...args: string[]) =>
      (JSON.parse((await service(["whoami", "--json", ...args], env)).stdout) as { cli: object }).cli;
    expect(await ask({}, "--profile", "shop")).toEqual({
      profile: "shop",
      profile_source: "--profile",
      base_url: on.platform.baseUrl,
      base_url_source: "profile shop",
      credential_source: "profile shop",
      credential_type: "oauth",
    });
    expect(await ask({ ...loginEnv(on.platform, dir), SERVICE_API_KEY: on.platform.sandboxKey })).toMatchObject({
      profile_source: "current profile",
      base_url_source: "SERVICE_BASE_URL",
      credential_source: "SERVICE_API_KEY",
      credential_type: "api_key",
    });
    expect((await service(["whoami", "--profile", "shop", "-q"])).stdout).toMatch(/^acct_\w+\n$/);
    expect((await service(["whoami", "--profile", "shop"])).stdout).toContain(
      "signed_in\tin a browser, profile shop\n",
    );
  });
});

describe("service profiles", () => {
  it("lists profiles with their accounts and credentials, without secrets", async () => {
    expect(await service(["profiles", "list", "--json"])).toMatchObject({ exitCode: 0, stdout: "[]\n" });
    await loginWithKey();
    await signIn(on.platform, on.user, dir, ["--profile", "shop"]);
    const { stdout } = await service(["profiles", "list", "--json"]);
    expect(JSON.parse(stdout)).toEqual([
      {
        name: "default",
        current: true,
        base_url: on.platform.baseUrl,
        auth_url: on.platform.baseUrl,
        account: { id: on.platform.ready.account, name: "Default account" },
        credentials: [{ environment: "sandbox", type: "api_key" }],
      },
      expect.objectContaining({
        name: "shop",
        current: false,
        credentials: [{ environment: "sandbox", type: "oauth" }],
      }),
    ]);
    expect((await service(["profiles", "list"])).stdout).toBe(
      `default\tyes\tDefault account\tsandbox (key)\t${on.platform.baseUrl}\n` +
        `shop\tno\tDefault account\tsandbox (browser)\t${on.platform.baseUrl}\n`,
    );
    expect((await service(["profiles", "list", "--quiet"])).stdout).toBe("default\nshop\n");
  });

  it("sets the current profile", async () => {
    await loginWithKey("--profile", "shop");
    expect((await service(["whoami"])).exitCode).toBe(4);
    expect((await service(["profiles", "use", "shop"])).exitCode).toBe(0);
    expect((await service(["whoami"])).stdout).toContain("profile\tshop\n");
  });

  it("deletes a profile after revoking its session; default becomes the current one", async () => {
    await signIn(on.platform, on.user, dir);
    await signIn(on.platform, on.user, dir, ["--profile", "shop"]);
    await service(["profiles", "use", "shop"]);
    const token = readStored(dir).profiles["shop"]!.credentials["sandbox"]!.access_token;
    expect(await service(["profiles", "delete", "shop", "--json"])).toMatchObject({
      exitCode: 0,
      stdout: '{"name":"shop","deleted":true}\n',
    });
    expect(await statusOf(token)).toBe(401);
    expect(Object.keys(readStored(dir).profiles)).toEqual(["default"]);
    expect((await service(["whoami"])).stdout).toContain("profile\tdefault\n");
    expect((await service(["profiles", "delete", "default"])).stdout).toBe("name\tdefault\ndeleted\ttrue\n");
  });

  it.each(["use", "delete"])("%s lists the profiles if the name is unknown", async (verb) => {
    await loginWithKey("--profile", "shop");
    const { exitCode, stderr } = await service(["profiles", verb, "shpo"]);
    expect(exitCode).toBe(3);
    expect(stderr).toBe('Error: Profile "shpo" does not exist\nProfiles: shop.\n');
  });
});
