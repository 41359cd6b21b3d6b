import { chmodSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listen } from "../client/support/scripted-server.ts";
import { kitPlatform } from "../testing/kit.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";
import { API_KEY, ENDPOINT, listOf } from "../support/api-objects.ts";

interface Result {
  id: string;
  status: string;
  detail: string;
  advice: string | null;
}

interface Diagnosis {
  exitCode: number | null;
  stderr: string;
  of: (id: string) => Result;
}

const DAY = 86_400_000;
const platform = kitPlatform();

async function diagnose(env: Record<string, string>, ...args: string[]): Promise<Diagnosis> {
  const { exitCode, stdout, stderr } = await runCli(["doctor", "--json", ...args], { env });
  const results = JSON.parse(stdout) as Result[];
  return { exitCode, stderr, of: (id) => results.find((result) => result.id === id)! };
}

/** Starts a platform with configured responses by path. Other paths return 404. */
function scripted(results: Record<string, object>, headers: Record<string, string> = {}): Promise<string> {
  const respond: RequestListener = (request, response) => {
    const body = results[request.url!.split("?")[0]!];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body ?? { code: "not_found", detail: "Nothing here", status: 404 }));
  };
  return listen(createServer(respond));
}

const IDENTITY = {
  object: "identity",
  account: { id: "acct_1", name: "Example" },
  user: null,
  environment: "sandbox",
  livemode: false,
  credential: { kind: "secret_key", id: "key_1", prefix: "sk_sandbox_x", last4: "xxxx" },
  scopes: ["customers:read"],
};
const KEY = { SERVICE_API_KEY: "sk_sandbox_x" };

function at(milliseconds: number): string {
  return `${new Date(Date.now() + milliseconds).toISOString().slice(0, 19)}Z`;
}

describe("service doctor", () => {
  it("finds no problem in a working setup, and exits with 0", async () => {
    const { exitCode, stderr, of } = await diagnose(platform.env);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(of("node")).toMatchObject({ status: "ok", detail: expect.stringContaining(process.versions.node) });
    expect(of("platform").detail).toContain(`${platform.baseUrl} responds in`);
    expect(of("version")).toMatchObject({ status: "ok", detail: expect.stringContaining("2026-11-01") });
    expect(of("credential").detail).toMatch(
      /^API key from SERVICE_API_KEY is valid, with \d+ scopes; does not expire$/,
    );
    expect(of("signing_secrets").detail).toBe("no webhook endpoints");
    expect(of("sqlite").detail).toMatch(/^3\.\d+\.\d+, for the commands dev, demo, serve, db and faults check$/);
    for (const id of ["settings_file", "settings_folder", "data_folder", "proxy", "clock"]) {
      expect(of(id)).toMatchObject({ status: "ok", advice: null });
    }
    expect(["ok", "warning"]).toContain(of("port").status);
  });

  it("reports a missing platform and credential with their fixes, and exits with 7 as status does", async () => {
    const { exitCode, of } = await diagnose({ SERVICE_BASE_URL: "http://127.0.0.1:9" });
    expect(exitCode).toBe(7);
    expect(of("platform")).toMatchObject({ status: "failed", detail: expect.stringContaining("nothing listens on") });
    expect(of("platform").advice).toMatch(/service serve --port 9.*SERVICE_BASE_URL/);
    expect(of("port").detail).toMatch(/^9 /);
    expect(of("credential")).toMatchObject({ status: "failed", advice: expect.stringContaining("service login") });
    for (const id of ["version", "clock", "signing_secrets"]) expect(of(id).status).toBe("skipped");
  });

  it("reports one failure for a project whose platform has not been started", async () => {
    const folder = createConfigDir();
    writeFileSync(join(folder, "service.yaml"), "platform: { port: auto }\n");
    const { stdout, exitCode } = await runCli(["doctor", "--json"], { cwd: folder, env: {} });
    const results = JSON.parse(stdout) as Result[];
    const those = (status: string) => results.filter((one) => one.status === status).map(({ id }) => id);
    expect(exitCode).toBe(7);
    expect(those("failed")).toEqual(["platform"]);
    expect(those("skipped")).toEqual(["version", "clock", "credential", "signing_secrets", "port"]);
  });

  it("reports all errors of service.yaml once, and skips what depends on it", async () => {
    const folder = createConfigDir();
    writeFileSync(join(folder, "service.yaml"), "forward: { too: 3000 }\nplatform: { port: x }\n");
    const { stdout, exitCode } = await runCli(["doctor", "--json"], { cwd: folder, env: {} });
    const results = JSON.parse(stdout) as Result[];
    const failed = results.filter(({ status }) => status === "failed");
    expect({ exitCode, failed: failed.map(({ id }) => id) }).toEqual({ exitCode: 1, failed: ["project_file"] });
    expect(failed[0]!.detail).toMatch(/service\.yaml:1:\d+: forward\.too: .*; service\.yaml:2:\d+: platform\.port: /);
    const skipped = results.filter(({ detail }) => detail === "not checked: service.yaml has errors");
    expect(skipped.map(({ id }) => id)).toEqual([
      "platform",
      "version",
      "clock",
      "credential",
      "signing_secrets",
      "port",
    ]);
  });

  it("reports a settings file that is readable by others or damaged", async () => {
    const folder = createConfigDir();
    const file = join(folder, "config.json");
    writeFileSync(file, '{"version":1,"profiles":{}}');
    chmodSync(file, 0o644);
    const readable = await diagnose({ ...platform.env, SERVICE_CONFIG_DIR: folder });
    expect(readable.exitCode).toBe(0);
    expect(readable.of("settings_file")).toMatchObject({
      status: "warning",
      advice: expect.stringContaining(`chmod 600 ${file}`),
    });
    chmodSync(file, 0o600);
    chmodSync(folder, 0o755);
    const open = await diagnose({ ...platform.env, SERVICE_CONFIG_DIR: folder });
    expect(open.of("settings_file")).toMatchObject({
      status: "warning",
      advice: expect.stringContaining(`chmod 700 ${folder}`),
    });
    writeFileSync(file, "{");
    const damaged = await diagnose({ ...platform.env, SERVICE_CONFIG_DIR: folder });
    expect(damaged.exitCode).toBe(1);
    expect(damaged.of("settings_file")).toMatchObject({ status: "failed", detail: expect.stringContaining("corrupt") });
    expect(damaged.of("node").status).toBe("ok");
  });

  it("reports folders that are not writable", async () => {
    const env = { ...platform.env, SERVICE_CONFIG_DIR: "/dev/null/settings", XDG_DATA_HOME: "/dev/null/data" };
    const { exitCode, of } = await diagnose(env);
    expect(exitCode).toBe(1);
    expect(of("settings_folder")).toMatchObject({
      status: "failed",
      advice: expect.stringContaining("SERVICE_CONFIG_DIR"),
    });
    expect(of("data_folder")).toMatchObject({ status: "failed", advice: expect.stringContaining("XDG_DATA_HOME") });
  });

  it("reports a rejected key", async () => {
    const { exitCode, of } = await diagnose({
      ...platform.env,
      SERVICE_API_KEY: `${platform.apiKey.slice(0, -1)}?`,
    });
    expect(exitCode).toBe(4);
    expect(of("credential")).toMatchObject({
      status: "failed",
      advice: expect.stringContaining("unset it and run `service login`"),
    });
  });

  it.each([
    [-60, "warning", "behind"],
    [60, "warning", "ahead of"],
    [3600, "failed", "signatures will be rejected as stale"],
  ])("reports a clock that is %i s off", async (ahead, status, message) => {
    const date = new Date(Date.now() - ahead * 1000).toUTCString();
    const url = await scripted({ "/healthz": { status: "ok" }, "/v1/me": IDENTITY }, { date });
    const { of } = await diagnose({ ...KEY, SERVICE_BASE_URL: url });
    expect(of("clock")).toMatchObject({ status, detail: expect.stringContaining(message) });
  });

  it("reports another API version, a key that expires soon, and signing secrets older than 90 days", async () => {
    const endpoint = (id: string, age: number) => ({ ...ENDPOINT, id, secret_created: at(-age * DAY) });
    const url = await scripted({
      "/healthz": { status: "ok" },
      "/v1/me": IDENTITY,
      "/v1/versions": { object: "list", data: ["2031-01-01"], latest: "2031-01-01", pinned: "2031-01-01" },
      "/v1/api_keys/key_1": { ...API_KEY, expires_at: at(3 * DAY) },
      "/v1/webhook_endpoints": listOf(endpoint("we_young", 89), endpoint("we_old", 91)),
    });
    const { exitCode, of } = await diagnose({ ...KEY, SERVICE_BASE_URL: url });
    expect(exitCode).toBe(1);
    expect(of("version")).toMatchObject({ status: "failed", detail: expect.stringContaining("2031-01-01") });
    expect(of("credential")).toMatchObject({
      status: "warning",
      detail: expect.stringMatching(/1 scope; expires in [23] days/),
      advice: "Replace it: service keys rotate key_1",
    });
    expect(of("signing_secrets")).toEqual({
      id: "signing_secrets",
      title: "Signing secrets",
      status: "warning",
      detail: "older than 90 days: we_old",
      advice: "Replace each: service endpoints rotate-secret we_old",
    });
  });

  it.each([
    ["http://127.0.0.1:9", "cannot reach"],
    ["http://[", "is not the address of an http or https proxy"],
  ])("reports an unusable proxy: %s", async (proxy, message) => {
    const { exitCode, of } = await diagnose({ ...platform.env, HTTPS_PROXY: proxy });
    expect(exitCode).toBe(1);
    expect(of("proxy")).toMatchObject({ status: "failed", detail: expect.stringContaining(message) });
  });

  it("reports whether the platform is reached through a proxy, without its password", async () => {
    const proxy = new URL(await listen(createServer()));
    const { of } = await diagnose({ ...platform.env, HTTP_PROXY: `http://ada:secret@${proxy.host}` });
    expect(of("proxy")).toMatchObject({ status: "ok", detail: expect.stringContaining("is reached directly") });
    expect(of("proxy").detail).not.toContain("secret");
  });

  it("does not wait for a platform that never responds", async () => {
    const { exitCode, of } = await diagnose({ ...KEY, SERVICE_BASE_URL: await listen(createServer(() => {})) });
    expect(exitCode).toBe(7);
    expect(of("platform")).toMatchObject({ status: "failed", detail: "timed out after 6 s" });
    expect(of("node").status).toBe("ok");
  });

  it("distinguishes the platform on the default port from another program", async () => {
    const blocker = createTcpServer();
    const isMine = await new Promise<boolean>((resolve) => {
      blocker.once("error", () => resolve(false)).listen(4010, "127.0.0.1", () => resolve(true));
    });
    // Starts a program that does not speak HTTP. If the port is already in use, that program serves as well.
    blocker.on("connection", (socket) => socket.end("220 hello\r\n"));
    const { of } = await diagnose(platform.env);
    blocker.close();
    if (isMine) expect(of("port")).toMatchObject({ status: "warning", advice: expect.stringContaining("--port 0") });
    else expect(of("port").detail).toMatch(/used by a running platform|used by another program/);
  });

  it("shows symbols, words and fixes on a terminal, and one line per check in a pipe", async () => {
    const session = runInTerminal(["doctor"], { env: { SERVICE_BASE_URL: "http://127.0.0.1:9" }, columns: 80 });
    expect(await session.ended).toBe(7);
    const text = session.text();
    expect(text).toMatch(/✓ ok {7}Node\.js/);
    expect(text).toMatch(/^✗ failed {3}Platform +http:\/\/127\.0\.0\.1:9: /m);
    expect(text).toMatch(/^✗ failed {3}Credential/m);
    expect(text).toMatch(/^ +→ Sign in: service login/m);
    expect(text).toMatch(/2 failed(, 1 warning)?\.\s*$/);
    const { stdout } = await runCli(["doctor"], { env: platform.env });
    expect(stdout).toMatch(/^ok\tnode\t/);
  });

  it.each(["doctor", "status"])("%s breaks lines only between words on 40 columns", async (command) => {
    const session = runInTerminal([command], { env: { SERVICE_BASE_URL: "http://127.0.0.1:9" }, columns: 40 });
    await session.ended;
    expect(session.text()).toMatch(/^✗ failed {3}Platform\n {4}http:\/\/127\.0\.0\.1:9: /m);
    const lines = session.text().trimEnd().split("\n");
    // A path is one word.
    expect(lines.filter((line) => line.length > 40 && line.trim().includes(" "))).toEqual([]);
  });
});
