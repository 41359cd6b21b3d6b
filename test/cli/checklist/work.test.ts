import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { json, listen, problem, startServer } from "../../client/support/scripted-server.ts";
import { kitPlatform } from "../../testing/kit.ts";
import { type CliResult, runCli } from "../../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../../support/terminal.ts";
import { CUSTOMER } from "../../support/api-objects.ts";

const platform = kitPlatform();

const service = (args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
  runCli(args, { env: { ...platform.env, ...env } });
const inTerminal = (args: readonly string[], env: Record<string, string> = {}) =>
  runInTerminal(args, { env: { ...platform.env, ...env } });

describe("waiting", () => {
  it("shows a spinner on a terminal, and nothing in a pipe", async () => {
    const silent = await listen(createServer(() => {}));
    const session = inTerminal(["customers", "list", "--base-url", silent]);
    await session.waitFor(`Waiting for ${new URL(silent).host}`);
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    const slow = await startServer((_request, response) => {
      setTimeout(() => response.writeHead(404).end(), 300);
    });
    const { stderr } = await service(["customers", "list", "--base-url", slow.url, "--json"]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("shows a spinner on a terminal that does not know its size", async () => {
    const slow = await startServer((_request, response) => {
      setTimeout(() => response.writeHead(404).end(), 1000);
    });
    const session = runInTerminal(["customers", "list", "--base-url", slow.url], { env: platform.env, columns: 0 });
    await session.waitFor(`Waiting for ${new URL(slow.url).host}`);
    expect(await session.ended).not.toBe(0);
    expect(session.output().length).toBeLessThan(10_000);
  });

  it("shows which of several requests a command waits for", async () => {
    const session = inTerminal(["expect", "customer.deleted", "--within", "60s"]);
    await session.waitFor("Waiting for customer.deleted");
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
  });

  it("shows why it retries", async () => {
    const { url } = await startServer((_request, response) =>
      response
        .writeHead(503, { "content-type": "application/problem+json", "retry-after": "25" })
        .end('{"detail":"Closed for the night.","code":"unavailable","request_id":"req_1"}'),
    );
    const session = inTerminal(["customers", "list", "--base-url", url]);
    await session.waitFor(/Closed for the night\.; retrying in 2\d\.\d s/);
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
  });

  it("repeats a create only with an idempotency key", async () => {
    const { url, requests: seen } = await startServer(problem(503, "unavailable"), json(201, CUSTOMER));
    const { exitCode } = await service(["customers", "create", "--email", "a@example.com", "--base-url", url]);
    expect(exitCode).toBe(0);
    const keys = seen.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[\w-]{20,}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  it("shows counts instead of percentages", async () => {
    const session = inTerminal(["trigger", "customer.created", "--count", "10"]);
    expect(await session.ended).toBe(0);
    await session.waitFor("10/10 customer.created");
    expect(session.text()).not.toContain("%");
    expect(session.text()).toMatch(/✓ Triggered 10 × customer\.created in \d/);
    const piped = await service(["trigger", "customer.created", "--count", "10"]);
    expect(piped).toMatchObject({ exitCode: 0, stderr: "" });
    expect(piped.stdout).toMatch(/^(EVENT\tcustomer\.created\tevt_\w{22}\n){10}$/);
  });
});

describe("success", () => {
  it("shows the object on a terminal, and suggests the next step", async () => {
    const session = inTerminal(["customers", "create", "--email", "ada@example.com"]);
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/^✓ Created customer cus_\w{22}$/m);
    const endpoint = inTerminal(["endpoints", "create", "--url", "http://127.0.0.1:9/", "--events", "*"]);
    expect(await endpoint.ended).toBe(0);
    expect(endpoint.text()).toMatch(/Test the endpoint:\n {2}service endpoints ping we_\w{22}\n$/);
  });
});

describe("failure", () => {
  it("explains what failed, why and what to do, with the request ID", async () => {
    await service(["customers", "create", "--email", "taken@example.com"]);
    const args = ["customers", "create", "--email", "taken@example.com"];
    const { exitCode, stdout, stderr } = await service(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(
      /^Error: .*taken@example\.com.*\n(?: {2}email: .*\n)? {2}409 email_taken, request req_\w{22}\nTo see the existing customer: service customers get cus_\w{22}\n$/,
    );
    const session = inTerminal(args);
    expect(await session.ended).toBe(1);
    expect(session.text().trimEnd()).toMatch(/To see the existing customer: service customers get cus_\w{22}$/);
  });

  it("shows the request ID if the platform is at fault", async () => {
    const { url } = await startServer(problem(500, "internal_error"));
    const { stderr } = await service(["customers", "list", "--base-url", url]);
    expect(stderr).toContain("500 internal_error, request req_1\nThis is a platform error");
  });

  it("shows stack traces and requests only with --debug or SERVICE_DEBUG, and never a key", async () => {
    const args = ["customers", "list", "--limit", "0"];
    expect((await service(args)).stderr).not.toContain("    at ");
    expect((await service([...args, "--debug"])).stderr).toContain("    at ");
    expect((await service(args, { SERVICE_DEBUG: "1" })).stderr).toContain("    at ");
    const { stdout, stderr } = await service(["customers", "list", "-q", "--debug"]);
    expect(stderr).toMatch(
      new RegExp(`^GET ${platform.baseUrl}/v1/customers\\?limit=20 → 200 req_\\w+ \\(\\d+ ms\\)\n$`),
    );
    expect(stdout + stderr).not.toContain(platform.apiKey);
  });

  it("links to the issue tracker without a stack trace", async () => {
    const broken = "process.getBuiltinModule = () => { throw new Error('out of order'); };";
    const { exitCode, stdout, stderr } = await service(["customers", "create", "--email", "b@example.com"], {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(broken)}`,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^Error: Unexpected error: out of order\nRun the command again with --debug.*\n$/);
  });
});

describe("the exit code", () => {
  it.each([
    [401, "invalid_credential", 4, "Set SERVICE_API_KEY to a valid key"],
    [403, "insufficient_scope", 5, "Use a key with that scope"],
    [404, "not_found", 3, "request req_1"],
    [400, "unsupported_version", 1, "Update the older one"],
    [410, "event_expired", 1, "410 event_expired"],
    [500, "internal_error", 1, "This is a platform error"],
  ])("after %i %s is %i", async (status, code, expected, message) => {
    const { url } = await startServer(problem(status, code));
    const { exitCode, stdout, stderr } = await service(["customers", "list", "--base-url", url]);
    expect({ exitCode, stdout }).toEqual({ exitCode: expected, stdout: "" });
    expect(stderr).toContain(message);
  });

  it("is 6 for 429 after retries, with the wait in the message", async () => {
    const { url, requests: seen } = await startServer(problem(429, "rate_limited", { "retry-after": "3600" }));
    const { exitCode, stderr } = await service(["customers", "list", "--base-url", url]);
    expect(exitCode).toBe(6);
    expect(stderr).toContain("Try again in 3600 s");
    expect(seen).toHaveLength(1);
  });

  it("is 0, 2, 4 and 7 for success, a usage error, no sign-in, and no platform", async () => {
    const args = ["customers", "list"];
    expect((await service(args)).exitCode).toBe(0);
    expect((await service([...args, "--nonsense"])).exitCode).toBe(2);
    expect((await service(args, { SERVICE_API_KEY: "" })).exitCode).toBe(4);
    expect((await service([...args, "--base-url", "http://127.0.0.1:9"])).exitCode).toBe(7);
    const session = inTerminal([...args, "--nonsense"]);
    expect(await session.ended).toBe(2);
  });
});
