import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { kitPlatform } from "../testing/kit.ts";
import { startReceiver } from "../support/receiver.ts";
import { type CliOptions, type CliResult, createConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";

const platform = kitPlatform();

const trigger = (args: readonly string[], options: CliOptions = {}): Promise<CliResult> =>
  runCli(["trigger", ...args], { ...options, env: { ...platform.env, ...options.env } });

const fixture = (input: string, ...args: string[]): Promise<CliResult> =>
  trigger(["--fixture", "-", ...args], { input });

const SHOP = `
# A customer who orders and pays.
- name: ada
  method: POST
  path: /v1/customers
  body: { email: "ada.\${unique}@example.com", metadata: { plan: pro } }
- name: order
  method: POST
  path: /v1/orders
  body:
    amount: 1999
    currency: EUR
    customer: \${ada.id}
    metadata: { note: "\${ada.metadata.plan} of \${ada.email}, $\${ada.id}" }
- method: POST
  path: /v1/orders/\${order.id}/complete
- name: payment
  method: POST
  path: /v1/payments
  body: { amount: "\${order.amount}", currency: "\${order.currency}", order: "\${order.id}" }
- method: GET
  path: /v1/payments/\${payment.id}
`;

interface CallResult {
  name: string | null;
  status: number;
  reply: Record<string, unknown>;
}

describe("service trigger --fixture", () => {
  it("sends the calls of a YAML file in order, with references between them", async () => {
    const { exitCode, stdout, stderr } = await fixture(SHOP, "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [ada, order, completed, payment, read] = JSON.parse(stdout) as CallResult[];
    expect(ada).toMatchObject({ name: "ada", method: "POST", path: "/v1/customers", status: 201 });
    expect(order!.reply).toMatchObject({
      amount: 1999,
      customer: ada!.reply["id"],
      metadata: { note: `pro of ${String(ada!.reply["email"])}, \${ada.id}` },
    });
    expect(completed).toMatchObject({ name: null, status: 200, reply: { status: "completed" } });
    expect(payment!.reply).toMatchObject({ amount: 1999, currency: "EUR", order: order!.reply["id"] });
    expect(read!.reply).toEqual(payment!.reply);
  });

  it("accepts the same as JSON from a file, and again with a new ${unique}", async () => {
    const file = join(createConfigDir(), "customer.json");
    const body = { email: "${unique}@example.com" };
    writeFileSync(file, JSON.stringify([{ name: "a", method: "POST", path: "/v1/customers", body }]));
    for (let run = 0; run < 2; run++) {
      const { exitCode, stdout } = await trigger(["--fixture", file]);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^POST\t\/v1\/customers\t201\tcus_\w{22}\n$/);
    }
  });

  it("prints the IDs of created objects with --quiet", async () => {
    expect((await fixture(SHOP, "-q")).stdout).toMatch(/^cus_\w+\nord_\w+\npay_\w+\n$/);
  });

  it("finds every error before sending anything", async () => {
    const wrong = `
- name: ada
  method: POST
  path: /v1/customers
  body: { email: "before.\${unique}@example.com" }
- metod: POST
  path: customers
- name: ada
  method: GET
  path: /v1/orders/\${adda.id}
  body: { a: 1 }
- name: unique
  method: POST
  path: /v1/orders
  body: [1]
- method: POST
  path: /v1/orders/\${ada}/\${later.id}
- 5
`;
    const before = await apiOf(platform.baseUrl, platform.apiKey)("GET", "/v1/customers?limit=1");
    const { exitCode, stdout, stderr } = await fixture(wrong);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toEqual([
      "Error: --fixture: - has 11 mistakes; nothing was sent",
      'call 2: unknown field "metod"; did you mean method?',
      "call 2: method must be one of GET, POST, PATCH, DELETE",
      "call 2: path must be an API path, such as /v1/orders",
      'call 3: name "ada" is already used by an earlier call',
      "call 3: GET cannot have a body",
      "call 3: ${adda.id} does not refer to an earlier call; did you mean ada?",
      'call 4: "unique" is reserved and cannot be a name',
      "call 4: body must be an object",
      "call 5: ${ada} has no field: write ${ada.id}",
      "call 5: ${later.id} does not refer to an earlier call",
      "call 6: must be an object with method, path and body",
    ]);
    expect((await apiOf(platform.baseUrl, platform.apiKey)("GET", "/v1/customers?limit=1")).body).toEqual(before.body);
  });

  it.each([
    ['[{"method": "POST", ', /is neither JSON nor YAML: .*\nLine 2, column 1\.|Line 1, column \d+\./],
    ["- a: 1\n  a: 2\n", /neither JSON nor YAML: this key is already set above\nLine 2, column 3\./],
    ["{}", /must be a list of calls/],
    ["[]", /must contain at least one call/],
    ["", /must be a list of calls/],
  ])("explains what is wrong with %j", async (input, message) => {
    const result = await fixture(input);
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toMatch(message);
  });

  it("sends nothing if a number has more digits than can be kept", async () => {
    const call = (filler: string) =>
      `[{ "method": "POST", "path": "/v1/events",\n "body": { "type": "order.created", "data": { "n": 12345678901234567890${filler} } } }]`;
    const small = await fixture(call(""));
    expect(small).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("has the number 12345678901234567890"),
    });
    expect(small.stderr).toContain("Line 2, column 52. To send it as text");
    const large = await fixture(call(`, "filler": "${"x".repeat(70_000)}"`));
    expect(large.stderr).toContain("has the number 12345678901234567890");
  });

  it("reports the call that failed, and still cleans up", async () => {
    const { exitCode, stdout, stderr } = await fixture(
      `${SHOP}- name: twice\n  method: POST\n  path: /v1/orders/\${order.id}/complete\n`,
      "--cleanup",
    );
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^Warning: Call 6 of 6 \(twice\) failed: POST \/v1\/orders\/ord_\w+\/complete\n/);
    expect(stderr).toContain("409 invalid_transition");
    expect(stdout).toMatch(/\nDELETE\t\/v1\/customers\/cus_\w+\t200\tcus_\w+\n$/);
  });

  it("reports a response without a referenced field", async () => {
    const { exitCode, stderr } = await fixture(
      "- {name: o, method: POST, path: /v1/orders, body: {amount: 1, currency: EUR}}\n- {method: GET, path: '/v1/customers/${o.customer}'}",
    );
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'Error: Call 2 of 2: the response of "o" has no customer\nIt may be null: check the earlier calls.\n',
    );
  });

  it("waits with --wait for the deliveries of all its events", async () => {
    let secret = "";
    const receiver = await startReceiver(() => secret);
    const api = apiOf(platform.baseUrl, platform.apiKey);
    const endpoint = await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
    secret = endpoint.body.secret;
    const { exitCode, stdout } = await fixture(SHOP, "--wait");
    expect(exitCode).toBe(0);
    expect(stdout.match(/^DELIVERY\tdlv_\w+\tsucceeded\twe_/gm)).toHaveLength(4);
    expect(receiver.events.map(({ type }) => type).sort()).toEqual([
      "customer.created",
      "order.completed",
      "order.created",
      "payment.created",
    ]);
    await api("DELETE", `/v1/webhook_endpoints/${endpoint.body.id}`);
    await receiver.close();
  });

  it.each([
    [["order.completed"], "--fixture cannot be combined with an event type"],
    [["--count", "2"], "cannot be combined with --count"],
    [["--live"], "Events can be triggered in the sandbox only"],
  ])("cannot be combined with %j", async (args, message) => {
    const result = await trigger(["--fixture", "-", ...args], { input: SHOP });
    expect(result).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
  });
});

describe("service trigger --cleanup", () => {
  it("removes created objects, and lists those that cannot be removed", async () => {
    const { exitCode, stdout, stderr } = await trigger(["customer.updated", "--cleanup"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const id = /cus_\w+/.exec(stdout)![0];
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(`DELETE\t/v1/customers/${id}\t200\t${id}`);
    expect((await apiOf(platform.baseUrl, platform.apiKey)("GET", `/v1/customers/${id}`)).status).toBe(404);

    const orders = await trigger(["order.created", "--count", "5", "--cleanup"]);
    expect(orders.exitCode).toBe(0);
    expect(orders.stderr).toMatch(
      /^Warning: Not removed: (ord_\w+, ){2}ord_\w+ and 2 more\. The API cannot delete them\.\n$/,
    );
  });

  it("removes nothing twice", async () => {
    const { exitCode, stdout } = await trigger(["customer.deleted", "--cleanup"]);
    expect(exitCode).toBe(0);
    expect(stdout.match(/^DELETE/gm)).toHaveLength(1);
  });

  it("shows a progress bar while removing many", async () => {
    const session = runInTerminal(["trigger", "customer.created", "--count", "6", "--cleanup"], { env: platform.env });
    await session.waitFor("6/6 cleaned up");
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("✓ Removed 6 of 6 created objects");
  });
});

describe("service trigger --rate", () => {
  it.each(["500", "500/s", "30000/m"])("accepts %s", async (rate) => {
    const { exitCode, stdout } = await trigger(["order.created", "--count", "3", "--rate", rate, "-q"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^(evt_\w+\n){3}$/);
  });

  it.each(["0", "50/h", "fast", "-1/s"])("rejects %s", async (rate) => {
    const result = await trigger(["order.created", "--rate", rate]);
    expect(result).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("must be a rate such as 50/s") });
  });
});
