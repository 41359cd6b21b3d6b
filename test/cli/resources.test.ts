import { describe, expect, it } from "vitest";
import type { Event } from "../../src/contract/schemas/event.ts";
import type { Order } from "../../src/webhooks/event-objects.ts";
import type { Payment } from "../../src/webhooks/event-objects.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

const newOrder = (): Promise<Order> => json("orders", "create", "--amount", "1999", "--currency", "EUR");
const newPayment = (...args: string[]): Promise<Payment> =>
  json("payments", "create", "--amount", "500", "--currency", "JPY", ...args);

describe("service orders", () => {
  it("creates, completes and shows an order", async () => {
    const order = await newOrder();
    expect(order).toMatchObject({ object: "order", amount: 1999, currency: "EUR", status: "pending", customer: null });
    const completed = { ...order, status: "completed" };
    expect(await json("orders", "complete", order.id)).toEqual(completed);
    expect(await json("orders", "get", order.id)).toEqual(completed);
  });

  it("takes the URL of a page in the dashboard for its ID, and an address of this machine without http://", async () => {
    const order = await newOrder();
    const { baseUrl } = cli.platform;
    const page = `${baseUrl}/dashboard/sandbox/orders/${order.id}?tab=events`;
    expect(await json("orders", "get", page, "--base-url", baseUrl.replace("http://", ""))).toEqual(order);
    expect((await service(["why", page])).stdout).toContain(order.id);
  });

  it("explains an invalid transition", async () => {
    const order = await newOrder();
    await json("orders", "cancel", order.id);
    const { exitCode, stdout, stderr } = await service(["orders", "complete", order.id]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("409 invalid_transition");
  });

  it("prints the API's own values in a pipe", async () => {
    const { id, created } = await newOrder();
    const { stdout } = await service(["orders", "list", "--limit", "1"]);
    expect(stdout).toBe(`${id}\tpending\t1999\tEUR\t\t${created}\n`);
  });

  it("lists by customer and by status", async () => {
    const customer = (await service(["customers", "create", "--email", "orders@example.com", "-q"])).stdout.trim();
    const args = ["--amount", "1", "--currency", "EUR", "--customer", customer, "--metadata", "a=b"];
    const order = await json<Order>("orders", "create", ...args);
    expect(order).toMatchObject({ customer, metadata: { a: "b" } });
    expect(await json("orders", "list", "--customer", customer)).toEqual([order]);
    expect(await json("orders", "list", "--customer", customer, "--status", "completed")).toEqual([]);
  });

  it("repeats a completion with the same key without effect", async () => {
    const { id } = await newOrder();
    const args = ["orders", "complete", id, "--idempotency-key", "once", "--json"];
    const first = await service(args);
    expect(first.exitCode).toBe(0);
    expect(await service(args)).toEqual(first);
  });
});

describe("--fields", () => {
  it("takes the names that an object has in a pipe", async () => {
    const { id } = await newOrder();
    const { stdout: shown } = await service(["orders", "get", id]);
    const names = shown
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t")[0]!);
    expect(names).toContain("environment");
    expect((await service(["orders", "get", id, "--fields", names.join(",")])).stdout).toBe(shown);
    expect(await json("orders", "get", id, "--fields", "id,environment")).toEqual({ id, environment: "sandbox" });
    const { stdout: listed } = await service(["orders", "list", "--limit", "1", "--fields", "environment,id"]);
    expect(listed).toBe(`sandbox\t${id}\n`);
    const keys = await json<object[]>("keys", "list", "--fields", "state,expires,addresses,revoked");
    expect(keys[0]).toEqual({ state: "active", expires: null, addresses: "any", revoked: null });
  });

  it.each([
    [["deliveries", "list"], "attempts"],
    [["deliveries", "retry", "dlv_1"], "attempts"],
    [["endpoints", "list"], "secret"],
    [["endpoints", "get", "we_1"], "secret"],
    [["apps", "list"], "client_secret"],
  ])("of %j rejects %s, which only another command returns", async (args, field) => {
    const { exitCode, stderr } = await service([...args, "--fields", `id,${field}`]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(`has no field "${field}"`) });
    expect(stderr).not.toMatch(new RegExp(`Fields: .*\\b${field}\\b`));
  });

  it("of a command that returns a secret includes it", async () => {
    const create = ["keys", "create", "--scope", "orders:read", "--fields", "object,key"];
    expect((await service(create)).stdout).toMatch(/^object\tapi_key\nkey\trk_\w+\n$/);
  });

  it("cannot be combined with --quiet, except in JSON", async () => {
    const args = ["orders", "list", "--limit", "1", "--quiet", "--fields", "status"];
    expect(await service(args)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--quiet prints IDs only: it cannot be combined with --fields"),
    });
    expect(await json(...args)).toEqual([{ status: expect.any(String) }]);
  });
});

describe("service payments", () => {
  it("creates a payment for an order, and marks it as succeeded", async () => {
    const { id: order } = await newOrder();
    const payment = await newPayment("--order", order);
    expect(payment).toMatchObject({ object: "payment", amount: 500, currency: "JPY", status: "pending", order });
    expect(await json("payments", "succeed", payment.id)).toEqual({ ...payment, status: "succeeded" });
    expect(await json("payments", "list", "--order", order)).toEqual([{ ...payment, status: "succeeded" }]);
  });

  it("marks a payment as failed, with a code", async () => {
    const { id } = await newPayment();
    expect(await json("payments", "fail", id, "--failure-code", "insufficient_funds")).toMatchObject({
      status: "failed",
      failure_code: "insufficient_funds",
    });
    const other = await newPayment();
    expect(await json("payments", "fail", other.id)).toMatchObject({ failure_code: "card_declined" });
    const failed = await json<Payment[]>("payments", "list", "--status", "failed");
    expect(failed.map((payment) => payment.id)).toEqual(expect.arrayContaining([id, other.id]));
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(["failed"]));
  });

  it("exits with 3 for a payment that does not exist", async () => {
    expect(await service(["payments", "get", "pay_0351NTzgPnbMlENaoDYtbf"])).toMatchObject({
      exitCode: 3,
      stdout: "",
      stderr: expect.stringMatching(
        /^Error: The payment \S+ does not exist in the sandbox\n {2}404 .*\nLook in live mode: service payments get \S+ --live\n$/,
      ),
    });
  });

  it("points to live mode for an object that was created there after a reset of the sandbox", async () => {
    await service(["sandbox", "reset", "--yes"]);
    const live = { env: { SERVICE_API_KEY: cli.platform.liveKey } };
    for (let count = 0; count < 5; count++) {
      const create = ["orders", "create", "--amount", "1", "--currency", "EUR", "--live", "-q"];
      const id = (await service(create, live)).stdout.trim();
      for (const [verb, shown] of [
        [["orders", "get", id], `service orders get ${id}`],
        [["orders", "complete", id], `service orders get ${id}`],
        [["why", id], `service why ${id}`],
        [["payments", "create", "--amount", "1", "--currency", "EUR", "--order", id], `service orders get ${id}`],
        [["logs", "get", id.replace("ord", "req")], "service why req_"],
      ] as const) {
        const { stderr } = await service(verb);
        expect(stderr).toContain(`Look in live mode: ${shown}`);
        expect(stderr).not.toMatch(/which was reset|Check the ID/);
      }
      const sandbox = (await json<Order>("orders", "create", "--amount", "1", "--currency", "EUR")).id;
      const { stderr } = await service(["orders", "get", sandbox, "--live"], live);
      expect(stderr).toContain(`Look in the sandbox, without --live: service orders get ${sandbox}\n`);
    }
  });

  it("names the command for an ID of another kind", async () => {
    const { id } = await newOrder();
    const { exitCode, stderr } = await service(["payments", "get", id]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`To show the order: service orders get ${id}\n`);
  });
});

describe("service events", () => {
  it("lists the events of an object, and shows one", async () => {
    const { id } = await newOrder();
    await json("orders", "complete", id);
    const events = await json<Event[]>("events", "list", "--related", id);
    expect(events.map(({ type }) => type)).toEqual(["order.completed", "order.created"]);
    expect(await json("events", "get", events[0]!.id)).toEqual(events[0]);
    const { stdout } = await service(["events", "get", events[0]!.id]);
    expect(stdout).toContain(`type\torder.completed\nobject\t${id}\n`);
    expect(stdout).toContain(`data\t${JSON.stringify(events[0]!.data)}\n`);
  });

  it("filters by a wildcard", async () => {
    await newOrder();
    await service(["trigger", "payment.failed"]);
    const types = (await json<Event[]>("events", "list", "--type", "payment.*", "--all")).map(({ type }) => type);
    expect(new Set(types.map((type) => type.split(".")[0]))).toEqual(new Set(["payment"]));
  });

  it("suggests the nearest event type if the type is unknown", async () => {
    const { exitCode, stderr } = await service(["events", "list", "--type", "order.complet"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("order.completed");
  });
});

describe("service api", () => {
  it("sends a GET to any path, with a query", async () => {
    for (let count = 0; count < 2; count++) await newOrder();
    const list = await json<{ object: string; data: unknown[]; has_more: boolean }>(
      "api",
      "GET",
      "/v1/orders",
      "-f",
      "limit=1",
    );
    expect(list).toMatchObject({ object: "list", has_more: true });
    expect(list.data).toHaveLength(1);
  });

  it("follows the cursors with --paginate", async () => {
    for (let count = 0; count < 3; count++) await newOrder();
    const pages = await json<{ data: unknown[]; has_more: boolean; next_cursor: null }>(
      "api",
      "get",
      "v1/orders?limit=2",
      "--paginate",
    );
    expect(pages).toMatchObject({ object: "list", has_more: false, next_cursor: null });
    expect(pages.data).toEqual(await json("orders", "list", "--all"));
    expect(pages.data.length).toBeGreaterThan(2);
  });

  it("builds a body from fields: JSON values are parsed, dots select nested members", async () => {
    const metadata = ["plan=pro", 'size="10"', "reference=12345678901234567890", "rate=0.12345678901234567890"];
    const fields = ["-f", "amount=7", "-f", "currency=EUR", ...metadata.flatMap((pair) => ["-f", `metadata.${pair}`])];
    expect(await json("api", "POST", "/v1/orders", ...fields)).toMatchObject({
      amount: 7,
      metadata: { plan: "pro", size: "10", reference: "12345678901234567890", rate: "0.12345678901234567890" },
    });
  });

  it("rejects a number in an object that would lose digits", async () => {
    const { exitCode, stderr } = await service([
      "api",
      "POST",
      "/v1/orders",
      "-f",
      'metadata={"a":12345678901234567890}',
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("12345678901234567890 has more digits than a JSON number can hold");
  });

  it("sends a file or stdin unchanged", async () => {
    const { exitCode, stdout } = await service(["api", "POST", "/v1/orders", "--input", "-"], {
      input: '{"amount": 3, "currency": "EUR"}',
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ amount: 3 });
    expect(await service(["api", "POST", "/v1/orders", "--input", "/nowhere.json"])).toMatchObject({
      exitCode: 2,
      stderr: "Error: --input: /nowhere.json does not exist\n",
    });
    expect(await service(["api", "POST", "/v1/orders", "--input", "-"], { input: "{" })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("400 invalid_json"),
    });
  });

  it("rejects two flags that read stdin", async () => {
    const args = ["api", "POST", "/v1/orders", "--input", "-", "--api-key-stdin"];
    expect(await service(args, { input: "{}" })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--input and --api-key-stdin both read stdin"),
    });
  });

  it("exits with the error's exit code", async () => {
    expect(await service(["api", "GET", "/v1/nothing"])).toMatchObject({ exitCode: 3, stdout: "" });
    expect(await service(["api", "POST", "/v1/orders", "-f", "a.b=1", "-f", "a.b.c=1"])).toMatchObject({ exitCode: 2 });
    expect(await service(["api", "GET", "/v1/me", "--paginate"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("is not a list"),
    });
  });
});
