import { describe, expect, it } from "vitest";
import { startServer } from "../client/support/scripted-server.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { makeProject } from "./support/dev-project.ts";
import { loginEnv, signIn } from "./support/running-login.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const on = ownedPlatform();

async function status(env: Record<string, string>) {
  const { exitCode, stdout, stderr } = await runCli(["status", "--json"], { env });
  const results = JSON.parse(stdout) as { id: string; status: string; detail: string }[];
  const findings = Object.fromEntries(results.map(({ id, status, detail }) => [id, `${status}: ${detail}`]));
  return { exitCode, stderr, findings };
}

describe("service status", () => {
  it("shows a working setup with a browser session", async () => {
    const dir = createConfigDir();
    await signIn(on.platform, on.user, dir);
    const { exitCode, stderr, findings } = await status({ SERVICE_CONFIG_DIR: dir });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(findings).toEqual({
      platform: expect.stringMatching(
        new RegExp(`^ok: ${on.platform.baseUrl} responds in [\\d.]+ ms \\(URL from profile default\\)$`),
      ),
      version: expect.stringContaining("uses API 2026-11-01, which the platform supports"),
      clock: "ok: in sync with the platform",
      credential: expect.stringMatching(
        /^ok: Browser sign-in from profile default is valid, with \d+ scopes; renewed automatically$/,
      ),
    });
  });

  it("checks the platform of an untrusted service.yaml, and says why no credential is sent", async () => {
    const { baseUrl, sandboxKey } = on.platform;
    const project = await makeProject({ "service.yaml": `platform: { url: "${baseUrl}" }` });
    const { exitCode, stdout } = await project.service(["status"], { SERVICE_API_KEY: sandboxKey });
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/^ok\tplatform\t/);
    expect(stdout).toMatch(/^failed\tcredential\tThe key from SERVICE_API_KEY was not sent: .*\tIf you trust that/m);
  });

  it("exits with 4 without a credential, and with a rejected key", async () => {
    const env = loginEnv(on.platform, createConfigDir());
    expect(await status(env)).toMatchObject({
      exitCode: 4,
      findings: { credential: "failed: none for the sandbox environment" },
    });
    const rejected = { ...env, SERVICE_API_KEY: on.platform.sandboxKey.slice(0, -2) };
    expect(await status(rejected)).toMatchObject({
      exitCode: 4,
      findings: { credential: expect.stringMatching(/^failed: API key from SERVICE_API_KEY was rejected: /) },
    });
    // A sign-in would have no effect while the variable is set.
    const { stdout } = await runCli(["status"], { env: rejected });
    expect(stdout).toContain("Set SERVICE_API_KEY to a valid key, or unset it and run `service login`");
  });

  it("exits with 7 if the platform is unreachable, and explains why", async () => {
    const { exitCode, findings } = await status({ ...on.platform.env, SERVICE_BASE_URL: "http://127.0.0.1:9" });
    expect(exitCode).toBe(7);
    expect(findings).toMatchObject({
      platform: expect.stringMatching(/^failed: .*nothing listens on 127\.0\.0\.1:9/),
      credential: "skipped: not checked: the platform is unreachable",
    });
  });

  it("exits with 7 if the platform never responds", async () => {
    const server = await startServer(() => {});
    expect(await status({ SERVICE_BASE_URL: server.url })).toMatchObject({
      exitCode: 7,
      findings: { platform: "failed: timed out after 6 s" },
    });
  });

  it("exits with 1 if the credential cannot be checked", async () => {
    const server = await startServer(({ url }, response) => {
      response.writeHead(url === "/healthz" ? 200 : 500, { "Content-Type": "application/json" }).end("{}");
    });
    const { exitCode, findings } = await status({ SERVICE_BASE_URL: server.url, SERVICE_API_KEY: "sk_sandbox_x" });
    expect([exitCode, findings["credential"]]).toEqual([
      1,
      expect.stringMatching(/^failed: .* could not be checked: /),
    ]);
  });

  it("reports fields that the platform does not send as documented", async () => {
    const { body: me } = await on.platform.api("GET", "/v1/me");
    const server = await startServer(({ url }, response) => {
      response.writeHead(200, { "Content-Type": "application/json", Date: new Date().toUTCString() });
      response.end(JSON.stringify(url === "/v1/me" ? me : {}));
    });
    const env = { SERVICE_BASE_URL: server.url, SERVICE_API_KEY: on.platform.sandboxKey };
    expect((await status(env)).findings).toMatchObject({
      version: expect.stringMatching(/^skipped: .*The response of GET \/v1\/versions has no /),
      clock: expect.stringMatching(/^warning: .*The response of GET \/v1\/test_clock has no /),
    });
  });

  it("reports wrong settings as the command's own error", async () => {
    const { exitCode, stdout, stderr } = await runCli(["status", "--profile", "missing"], { env: on.platform.env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
    expect(stderr).toMatch(/^Error: Profile "missing"/);
  });

  it("reads the key of --api-key-stdin only once", async () => {
    const args = ["status", "--api-key-stdin"];
    const { exitCode, stdout } = await runCli(args, {
      env: { SERVICE_BASE_URL: on.platform.baseUrl },
      input: on.platform.sandboxKey,
    });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("API key from --api-key-stdin is valid");
  });

  it.each([
    ["behind", 3600],
    ["ahead of", -3600],
  ])("reports a clock that is an hour %s the platform's", async (message, offset) => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, {
        "Content-Type": "application/json",
        Date: new Date(Date.now() + offset * 1000).toUTCString(),
      });
      response.end("{}");
    });
    const { findings } = await status({ SERVICE_BASE_URL: server.url });
    expect(findings["clock"]).toMatch(new RegExp(`^failed: (1 h|59 min \\d+ s) ${message} the platform`));
  });
});
