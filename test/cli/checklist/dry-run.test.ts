import { beforeEach, describe, expect, it } from "vitest";
import { json, startServer } from "../../client/support/scripted-server.ts";
import { runCli } from "../../support/run-cli.ts";
import { runInTerminal } from "../../support/terminal.ts";

const KEY = `sk_live_${"k".repeat(49)}`;
const SECRET = `whsec_${"s".repeat(43)}`;
let platform: Awaited<ReturnType<typeof startServer>>;
let env: Record<string, string>;

beforeEach(async () => {
  platform = await startServer(json(200, {}));
  env = { SERVICE_BASE_URL: platform.url, SERVICE_API_KEY: KEY };
});

const run = (...args: string[]) => runCli([...args, "--live"], { env });

describe("--dry-run", () => {
  it("prints the request of each command that changes something, and sends nothing", async () => {
    const cases: readonly [args: string[], method: string, path: string, body: object | null][] = [
      [
        ["customers", "create", "--email", "a@example.com", "--metadata", "plan=pro"],
        "POST",
        "/v1/customers",
        { email: "a@example.com", metadata: { plan: "pro" } },
      ],
      [["customers", "update", "cus_1", "--name", "Ada"], "PATCH", "/v1/customers/cus_1", { name: "Ada" }],
      [["customers", "delete", "cus_1"], "DELETE", "/v1/customers/cus_1", null],
      [
        ["orders", "create", "--amount", "5", "--currency", "EUR"],
        "POST",
        "/v1/orders",
        { amount: 5, currency: "EUR" },
      ],
      [["orders", "complete", "ord_1"], "POST", "/v1/orders/ord_1/complete", {}],
      [["payments", "fail", "pay_1"], "POST", "/v1/payments/pay_1/fail", {}],
      [["endpoints", "disable", "we_1"], "PATCH", "/v1/webhook_endpoints/we_1", { status: "disabled" }],
      [
        ["endpoints", "rotate-secret", "we_1", "--overlap", "0s"],
        "POST",
        "/v1/webhook_endpoints/we_1/rotate_secret",
        { overlap_seconds: 0 },
      ],
      [["events", "replay", "evt_1"], "POST", "/v1/events/evt_1/replay", {}],
      [["deliveries", "retry", "dlv_1"], "POST", "/v1/deliveries/dlv_1/retry", {}],
      [["keys", "revoke", "key_1"], "POST", "/v1/api_keys/key_1/revoke", {}],
      [["apps", "rotate-secret", "app_1"], "POST", "/v1/oauth_apps/app_1/rotate_secret", {}],
      [["api", "PUT", "/v1/things", "-f", "a=1"], "PUT", "/v1/things", { a: 1 }],
    ];
    await Promise.all(
      cases.map(async ([args, method, path, body]) => {
        const { exitCode, stdout, stderr } = await run(...args, "--dry-run", "--json");
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
        expect(JSON.parse(stdout)).toEqual({ dry_run: true, method, url: platform.url + path, body });
      }),
    );
    expect(platform.requests).toEqual([]);
  });

  it("shows all calls of a trigger", async () => {
    const sandbox = { ...env, SERVICE_API_KEY: "sk_sandbox_x" };
    const { stdout } = await runCli(["trigger", "order.completed", "-n", "--count", "20"], { env: sandbox });
    const create = `POST\t${platform.url}/v1/orders\t{"amount":1999,"currency":"EUR"}\n`;
    expect(stdout).toBe(`${create}POST\t${platform.url}/v1/orders/{id}/complete\t{}\n`);
    expect(platform.requests).toEqual([]);
  });

  it("shows no secret", async () => {
    const { stdout, stderr } = await run(
      "api",
      "POST",
      "/v1/things",
      "-f",
      `secret=${SECRET}`,
      "-f",
      `key=${KEY}`,
      "-n",
    );
    expect(stdout).toContain('{"secret":"whsec_…","key":"sk_live_…"}');
    expect(stdout + stderr).not.toContain(KEY);
  });

  it("formats the request on a terminal", async () => {
    const session = runInTerminal(["customers", "delete", "cus_1", "--live", "-n"], { env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toBe(`DELETE ${platform.url}/v1/customers/cus_1\nNothing was sent.\n`);
  });

  it.each([[["customers", "list"]], [["config", "set", "update_notices", "false"]], [["logout"]], [["listen"]]])(
    "is rejected by %j, which it cannot prevent",
    async (args) => {
      const { exitCode, stdout, stderr } = await run(...args, "-n");
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain("does not support --dry-run");
    },
  );

  it("is listed in the help of commands that support it", async () => {
    expect((await run("customers", "create", "--help")).stdout).toContain("-n, --dry-run");
    expect((await run("customers", "list", "--help")).stdout).not.toContain("--dry-run");
  });
});
