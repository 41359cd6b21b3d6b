import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { kitPlatform } from "../testing/kit.ts";
import { spawnCli } from "../support/run-cli.ts";
import { masked, newKey, places, scannedFolder } from "./support/scanned-folder.ts";

const folder = scannedFolder();
const { write, scan } = folder;

describe("service keys scan", () => {
  it("finds every kind of credential by its checksum, prints it masked with its place, and exits with 1", async () => {
    const keys = [...(["sk_live_", "rk_sandbox_", "at_", "rt_", "cs_"] as const)].map((prefix) => newKey(prefix));
    write("config/.env", `A=1\nKEY=${keys[0]}\n`);
    write("b.json", JSON.stringify(keys.slice(1)));
    const result = await scan();
    expect(result.exitCode).toBe(1);
    expect(places(result)).toEqual(["b.json:1", "b.json:1", "b.json:1", "b.json:1", "config/.env:2"]);
    for (const key of keys) {
      expect(result.stdout).toContain(masked(key));
      expect(result.stdout + result.stderr).not.toContain(key);
    }
    expect(result.stdout).toContain(`config/.env:2\t${masked(keys[0]!)}\tlive secret key\t\n`);
    expect(result.stderr).toContain("5 credentials in 5 places.");
  });

  it("says which files `service dev` wrote", async () => {
    write("service.yaml", "env: { file: .env.local }\n");
    write(".env.local", newKey());
    write(".service/platform.db-credentials", newKey());
    write("other.txt", newKey());
    const { exitCode, stderr } = await scan();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "`service dev` wrote .env.local, .service/platform.db-credentials for this machine: keep them out of git.\n",
    );
  });

  it("exits with 0 for text that only looks like a key", async () => {
    const key = newKey();
    write(
      "a.txt",
      [key.slice(0, -1), `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`, "sk_sandbox_", ""].join("\n"),
    );
    expect(await scan()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await scan("--json")).toEqual({ exitCode: 0, stdout: "[]\n", stderr: "" });
  });

  it("finds a real key inside text that only looks like a key", async () => {
    const key = newKey();
    write("a.txt", `at_${"x".repeat(47)}${key}${newKey()}`);
    expect(places(await scan())).toEqual(["a.txt:1", "a.txt:1"]);
  });

  it("counts lines, and finds keys across the chunks of 64 KiB in which a file is read", async () => {
    const keys = [newKey(), newKey(), newKey()] as const;
    const upToFirst = "x\n".repeat(32_753);
    const upToSecond = `y${"x\n".repeat(32_737)}`;
    write("large.txt", `${upToFirst}${keys[0]}\n${upToSecond}${keys[1]}\n\n${keys[2]}`);
    expect([upToFirst.length, upToFirst.length + 61 + upToSecond.length]).toEqual([65_536 - 30, 131_072 - 30]);
    expect(places(await scan())).toEqual(["large.txt:32754", "large.txt:65492", "large.txt:65494"]);
  });

  it("skips large binary files, links and .git, but searches small binary files and large text", async () => {
    const key = newKey();
    const megabyte = Buffer.alloc(1024 * 1024 + 1, "x");
    write("small.bin", Buffer.concat([Buffer.from([0, 1, 2]), Buffer.from(key)]));
    write("large.bin", Buffer.concat([Buffer.from([0]), megabyte, Buffer.from(key)]));
    write("large.txt", Buffer.concat([megabyte, Buffer.from(`\n${key}`)]));
    write(".git/config", key);
    symlinkSync(join(folder.path, "large.txt"), join(folder.path, "link.txt"));
    expect(places(await scan())).toEqual(["large.txt:2", "small.bin:1"]);
  });

  it("searches files whose names are not UTF-8, and UTF-16 text", async () => {
    const name = Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff, 0xfe]), Buffer.from(".env")]);
    writeFileSync(name, `a\n${newKey()}`);
    write("windows.env", Buffer.from(`\ufeffA=1\r\nKEY=${newKey()}\r\n`, "utf16le"));
    expect(places(await scan())).toEqual(["windows.env:2", "\ufffd\ufffd.env:2"]);
  });

  it("finds keys in the names of files and folders and in the targets of links, and masks them in paths", async () => {
    const keys = [newKey(), newKey(), newKey(), newKey()] as const;
    write(`${keys[0]}/${keys[1]}.txt`, `\n${keys[2]}`);
    symlinkSync(`/nowhere/${keys[3]}`, join(folder.path, "link"));
    const result = await scan();
    const name = masked(keys[0]);
    expect(new Set(places(result))).toEqual(
      new Set([name, `${name}/${masked(keys[1])}.txt`, `${name}/${masked(keys[1])}.txt:2`, "link:1"]),
    );
    for (const key of keys) expect(result.stdout + result.stderr).not.toContain(key);
    const { stdout } = await scan("--json");
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ path: name, line: null, credential: masked(keys[0]) }),
    );
    for (const key of keys) expect(stdout).not.toContain(key);
  });

  it("follows a link if it is the given path", async () => {
    write("real/a.txt", newKey());
    symlinkSync(join(folder.path, "real"), join(folder.path, "link"));
    expect(places(await scan("link"))).toEqual(["link/a.txt:1"]);
  });

  it("searches a single file, and reports a missing one", async () => {
    write("a.txt", newKey());
    write("b.txt", newKey());
    expect(places(await scan("b.txt"))).toEqual(["b.txt:1"]);
    expect(await scan("c.txt")).toMatchObject({ exitCode: 2, stderr: "Error: c.txt does not exist\n" });
    expect((await scan("/no-such-folder")).stderr).toBe("Error: /no-such-folder does not exist\n");
  });

  it("prints JSON without the secret", async () => {
    const key = newKey();
    write("a.txt", key);
    const { stdout } = await scan("--json");
    expect(JSON.parse(stdout)).toEqual([
      {
        path: "a.txt",
        line: 1,
        commit: null,
        kind: "secret_key",
        environment: "sandbox",
        credential: masked(key),
        outcome: null,
      },
    ]);
  });
});

describe("service keys scan --revoke", () => {
  const platform = kitPlatform();

  const created = async (body: object, key = platform.apiKey) =>
    (await apiOf(platform.baseUrl, key)("POST", "/v1/api_keys", body)).body.key as string;
  const statusOf = async (key: string) => (await apiOf(platform.baseUrl, key)("GET", "/v1/me")).status;
  const revoke = (...args: string[]) =>
    spawnCli(["keys", "scan", "--revoke", ...args], { cwd: folder.path, env: platform.env });

  it("revokes full-access keys with the keys themselves, and restricted keys with the profile's credential", async () => {
    const keys = [
      await created({}),
      await created({ scopes: ["customers:read"] }),
      await created({ ip_allowlist: ["192.0.2.1/32"] }),
    ];
    write("keys.txt", keys.join("\n"));
    const { exitCode, stdout, stderr } = await revoke();
    expect(exitCode).toBe(1);
    expect(stdout.match(/\trevoked\n/g)).toHaveLength(3);
    expect(stderr).toContain("All of them are invalid now.");
    expect(await Promise.all(keys.map(statusOf))).toEqual([401, 401, 401]);
  });

  it("distinguishes revoked keys from those of another platform", async () => {
    const ended = await created({});
    await revokeBy(ended);
    write("keys.txt", `${ended}\n${newKey()}`);
    const { stdout, stderr } = await revoke();
    expect(stdout).toContain("\talready invalid\n");
    expect(stdout).toContain(`\tunknown at ${platform.baseUrl}\n`);
    expect(stderr).toContain("1 could not be revoked.");
  });

  it("requires --yes for live keys without a terminal", async () => {
    const key = await created({}, platform.liveKey);
    write("keys.txt", key);
    expect(await revoke()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes is required") });
    expect(await statusOf(key)).toBe(200);
    expect(await revoke("--yes")).toMatchObject({ exitCode: 1 });
    expect(await statusOf(key)).toBe(401);
  });

  async function revokeBy(key: string): Promise<void> {
    const api = apiOf(platform.baseUrl, key);
    const { body } = await api("GET", "/v1/me");
    await api("POST", `/v1/api_keys/${body.credential.id}/revoke`, {});
  }
});
