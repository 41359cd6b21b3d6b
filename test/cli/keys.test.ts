import { describe, expect, it } from "vitest";
import { parseCredential } from "../../src/contract/credentials.ts";
import { apiOf } from "../support/api.ts";
import { kitPlatform } from "../testing/kit.ts";
import { runCli } from "../support/run-cli.ts";
import { ENTER, runInTerminal } from "../support/terminal.ts";

const platform = kitPlatform();

const service = (...args: string[]) => runCli(args, { env: platform.env });
const live = (args: string[]) => ({
  env: { ...platform.env, SERVICE_API_KEY: platform.liveKey },
  args: [...args, "--live"],
});

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await service(...args, "--json");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const statusWith = async (key: unknown) => (await apiOf(platform.baseUrl, String(key))("GET", "/v1/customers")).status;

describe("service keys create", () => {
  it("creates a key with the given scopes, addresses and expiry, and shows it", async () => {
    const before = Date.now();
    const flags = [
      "--scope",
      "customers:read",
      "--scope",
      "orders:read",
      "--ip-allow",
      "127.0.0.0/8",
      "--expires-in",
      "90d",
    ];
    const created = await json("keys", "create", "--name", "reports", ...flags);
    expect(created).toMatchObject({
      object: "api_key",
      name: "reports",
      scopes: ["customers:read", "orders:read"],
      ip_allowlist: ["127.0.0.0/8"],
      livemode: false,
    });
    const days = (Date.parse(String(created["expires_at"])) - before) / 86_400_000;
    expect(Math.round(days)).toBe(90);
    expect(parseCredential(String(created["key"]))).toMatchObject({ kind: "restricted_key", environment: "sandbox" });
    expect(await statusWith(created["key"])).toBe(200);
  });

  it("says in its usage that it requires scopes or full access", async () => {
    const { stdout } = await service("keys", "create", "--help");
    expect(stdout).toContain("service keys create (--scope <scopes> | --full-access) [options]");
  });

  it("creates a full-access key without --scope, and a live one with --live", async () => {
    const { args, env } = live(["keys", "create", "--full-access", "--json"]);
    const { stdout } = await runCli(args, { env });
    expect(JSON.parse(stdout)).toMatchObject({ livemode: true, key: expect.stringMatching(/^sk_live_/) });
  });

  it("warns on a terminal that the key is shown only once, and never shows it again", async () => {
    const terminal = runInTerminal(["keys", "create", "--full-access", "--name", "once"], { env: platform.env });
    expect(await terminal.ended).toBe(0);
    const [key] = /sk_sandbox_\w{49}/.exec(terminal.text())!;
    expect(terminal.text()).toContain("The secret key is shown only once: store it now.");
    const [id] = /key_\w{22}/.exec(terminal.text())!;
    for (const args of [
      ["keys", "get", id],
      ["keys", "list"],
      ["keys", "get", id, "--json"],
    ]) {
      expect((await service(...args)).stdout).not.toContain(key);
    }
  });

  it.each([
    [["--scope", "customer:read"], "Did you mean customers:read?"],
    [["--expires-in", "soon"], "must be a duration such as 30s, 10m, 2h, 3d or 1w"],
    [["--full-access", "--ip-allow", "10.0.0.0/33"], "--ip-allow: must be an address range"],
    [["--quiet"], "--json --jq .key"],
  ])("rejects %j with an explanation", async (flags, message) => {
    const { exitCode, stdout, stderr } = await service("keys", "create", ...flags);
    expect(exitCode).toBeGreaterThan(0);
    expect(stdout).toBe("");
    expect(stderr).toContain(message);
  });

  it("rejects a key that would exceed its creator's permissions", async () => {
    const { key } = await json("keys", "create", "--scope", "api_keys:write");
    const { exitCode, stderr } = await runCli(["keys", "create", "--scope", "customers:read"], {
      env: { ...platform.env, SERVICE_API_KEY: String(key) },
    });
    expect(exitCode).toBe(5);
    expect(stderr).toContain("does not have: customers:read");
  });
});

describe("service keys update", () => {
  it("changes only the given fields, and rejects an update without changes", async () => {
    const { id } = await json("keys", "create", "--scope", "customers:read", "--ip-allow", "127.0.0.0/8");
    const flags = ["--name", "orders", "--scope", "orders:read", "--ip-allow", "any", "--expires-in", "30d"];
    const updated = await json("keys", "update", String(id), ...flags);
    expect(updated).toMatchObject({ id, name: "orders", scopes: ["orders:read"], ip_allowlist: [] });
    expect(Date.parse(String(updated["expires_at"]))).toBeGreaterThan(Date.now() + 29 * 86_400_000);
    expect(await service("keys", "update", String(id))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("No changes specified"),
    });
  });
});

describe("service keys revoke and roll", () => {
  it("stop the old key immediately; rolling shows a new one with the same permissions", async () => {
    const first = await json("keys", "create", "--name", "worker", "--scope", "customers:read");
    const second = await json("keys", "roll", String(first["id"]));
    expect(second).toMatchObject({ name: "worker", scopes: ["customers:read"] });
    expect([await statusWith(first["key"]), await statusWith(second["key"])]).toEqual([401, 200]);
    expect(await json("keys", "revoke", String(second["id"]))).toMatchObject({ revoked_reason: "revoked" });
    expect(await statusWith(second["key"])).toBe(401);
    expect((await service("keys", "get", String(second["id"]))).stdout).toContain("state\trevoked\n");
  });

  it("warn if the key is the one in use", async () => {
    const { key, id } = await json("keys", "create", "--full-access");
    const env = { ...platform.env, SERVICE_API_KEY: String(key) };
    const { exitCode, stderr } = await runCli(["keys", "revoke", String(id)], { env });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: "Warning: This command used the revoked key. To use another one: service login, or SERVICE_API_KEY\n",
    });
  });

  it("ask for confirmation in live mode, and require --yes without a terminal", async () => {
    const created = live(["keys", "create", "--full-access", "--json"]);
    const { id } = JSON.parse((await runCli(created.args, created)).stdout) as { id: string };
    const { args, env } = live(["keys", "revoke", id]);
    expect(await runCli(args, { env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--yes is required"),
    });
    const terminal = runInTerminal(args, { env });
    await terminal.waitFor(`Type ${id} to continue`);
    terminal.type(`${id}${ENTER}`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain(`Revoked API key ${id}`);
  });

  it("exit with 3 for a key that does not exist", async () => {
    expect((await service("keys", "revoke", "key_0000000000000000000000")).exitCode).toBe(3);
  });
});

it("service keys list shows what distinguishes keys", async () => {
  const { id, key } = await json("keys", "create", "--name", "listed", "--scope", "events:read");
  const { stdout } = await service("keys", "list");
  const line = stdout.split("\n").find((text) => text.startsWith(`${String(id)}\t`));
  expect(line).toContain(`\tlisted\t${String(key).slice(0, 12)}…${String(key).slice(-4)}\tactive\tevents:read\t`);
});
