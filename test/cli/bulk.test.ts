import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { BulkOperation } from "../../src/contract/schemas/bulk-operation.ts";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import { type Respond, json as respond, startServer } from "../client/support/scripted-server.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { CTRL_C, ENTER, runInTerminal } from "../support/terminal.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

let receiver: ScriptedReceiver;
let endpoint: string;
let status = 500;
beforeAll(async () => {
  receiver = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
});
beforeEach(async () => {
  const created = ["endpoints", "create", "--url", receiver.url, "--events", "order.*"];
  endpoint = (await json<{ id: string }>(...created)).id;
});
afterEach(async () => {
  expect(await service(["endpoints", "delete", endpoint, "--yes"])).toMatchObject({ exitCode: 0 });
});
afterAll(() => receiver.close());

const deliveries = (status: Delivery["status"]) =>
  json<Delivery[]>("deliveries", "list", "--endpoint", endpoint, "--status", status, "--all");

/** Creates orders whose deliveries have failed permanently. */
async function failOrders(count: number): Promise<void> {
  status = 500;
  expect(await service(["trigger", "order.created", "--count", String(count)])).toMatchObject({ exitCode: 0 });
  await expect.poll(async () => (await deliveries("pending")).filter((one) => one.attempt_count === 0)).toEqual([]);
  await json("clock", "advance", "4d");
  await expect.poll(() => deliveries("pending")).toEqual([]);
}

describe("service deliveries retry --failed", () => {
  it("retries all failed deliveries and prints their number", async () => {
    await failOrders(3);
    status = 200;
    const retried = await json<BulkOperation>("deliveries", "retry", "--failed", "--endpoint", endpoint);
    expect(retried).toMatchObject({ type: "deliveries.retry", status: "succeeded", total: 3, done: 3, failed: 0 });
    const chosen = ["--since", "1h", "--failed", "--yes", "--fields", "status,total"];
    expect(await service(["events", "replay", ...chosen, "--endpoint", endpoint])).toMatchObject({ exitCode: 0 });
    await expect.poll(async () => (await deliveries("succeeded")).length).toBe(3);
    const again = await service(["deliveries", "retry", "--failed", "--endpoint", endpoint]);
    expect(again).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "No deliveries match.\n",
    });
    const { stdout } = await service(["deliveries", "retry", "--failed", "--endpoint", endpoint, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ id: expect.stringMatching(/^blk_/), status: "succeeded", total: 0 });
  });

  it("fails with the reason if some deliveries cannot be retried", async () => {
    await failOrders(2);
    await json("endpoints", "disable", endpoint);
    const { exitCode, stderr } = await service(["deliveries", "retry", "--failed", "--endpoint", endpoint]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("2 of 2 deliveries could not be retried");
    expect(stderr).toContain(`The endpoint ${endpoint} is disabled`);
  });

  it.each([
    [["deliveries", "retry"], "Pass a delivery ID, or --failed"],
    [["events", "replay"], "Pass an event ID, or --since, --failed or --missed"],
    [["deliveries", "retry", "dlv_4Vf8aTqz0bKm2sNw9XyRcd", "--failed"], "--failed cannot be combined with an ID"],
    [["events", "replay", "--missed", "--dry-run"], "--missed needs --endpoint"],
    [["events", "replay", "--since", "yesterday"], "or an age such as 10m"],
  ])("rejects %j", async (args, reason) => {
    expect(await service(args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(reason) });
  });

  it("requires --yes on a terminal with --no-input, as everything that asks does", async () => {
    await service(["trigger", "customer.created"]);
    const session = runInTerminal(["events", "replay", "--since", "1h", "--no-input"], { env: cli.platform.env });
    expect(await session.ended).toBe(2);
    expect(session.text()).toContain("Error: --yes is required with --no-input\n");
  });

  it("asks on a terminal which event to replay", async () => {
    const [id = ""] = (await service(["trigger", "customer.created", "-q"])).stdout.trim().split("\n");
    const session = runInTerminal(["events", "replay"], { env: cli.platform.env });
    await session.waitFor(`❯ ${id}  customer.created`);
    session.type(ENTER);
    await session.ended;
    expect(session.text()).toContain(`✓ Event to replay (type to search) ${id}  customer.created`);
  });

  it("mentions the test clock if it explains why --since matches nothing", async () => {
    await json("clock", "advance", "1d");
    const session = runInTerminal(["events", "replay", "--since", "1s"], { env: cli.platform.env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(/No events match\.\nclock \+\S.*: the sandbox's time is ahead of real time/);
  });

  it("selects objects that were created before --until", async () => {
    await json("trigger", "order.created");
    const until = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, "");
    const { stdout, exitCode } = await service(["events", "replay", "--until", until, "-n", "--json"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`"created_before":"${until}"`);
  });

  it("requires --yes for live mode without a terminal", async () => {
    const env = { SERVICE_API_KEY: cli.platform.liveKey };
    const live = ["--live", "--base-url", cli.platform.baseUrl];
    await service(["api", "POST", "/v1/customers", "-f", "email=ada@example.com", ...live], { env });
    const { exitCode, stderr } = await service(["events", "replay", "--since", "1h", ...live], { env });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes is required") });
    const confirmed = ["events", "replay", "--since", "1h", "--yes", "--json", ...live];
    expect(JSON.parse((await service(confirmed, { env })).stdout)).toMatchObject({ total: 1, done: 1 });
  });
});

describe("service events replay --since", () => {
  it("measures ages on the test clock, and with --failed sends only to endpoints that failed", async () => {
    await failOrders(2);
    await json("clock", "advance", "2h");
    status = 200;
    await json("trigger", "order.created", "--wait");
    const recent = ["events", "replay", "--since", "1h", "--type", "order.*"];
    expect(await json<BulkOperation>(...recent)).toMatchObject({ type: "events.replay", total: 1, done: 1 });
    const failed = await json<BulkOperation>("events", "replay", "--since", "5d", "--failed");
    expect(failed).toMatchObject({ status: "succeeded", filters: { status: "failed" } });
    expect(failed.done).toBeGreaterThanOrEqual(2);
  });
});

describe("a bulk operation on a terminal", () => {
  const operation: BulkOperation = {
    id: "blk_4Vf8aTqz0bKm2sNw9XyRcd",
    object: "bulk_operation",
    type: "deliveries.retry",
    status: "running",
    filters: { endpoint: null, type: null, status: null, missed: null, created_after: null, created_before: null },
    total: 700,
    done: 40,
    failed: 0,
    last_error: null,
    livemode: false,
    created: "2026-11-01T10:00:00Z",
    ended_at: null,
  };

  it("asks first, shows progress, and explains after Ctrl-C how to follow and stop it", async () => {
    const script: Respond = (request, response) => {
      const isPlan = request.body.includes("dry_run");
      respond(200, isPlan ? { ...operation, id: null, done: 0 } : operation)(request, response);
    };
    const { url } = await startServer(script);
    const env = { ...cli.platform.env, SERVICE_BASE_URL: url };
    const session = runInTerminal(["deliveries", "retry", "--failed"], { env, columns: 80 });
    await session.waitFor("Retry 700 deliveries in the sandbox? (y/N)");
    session.type(`y${ENTER}`);
    await session.waitFor("40/700 retried");
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.text()).toContain("40 of 700 retried; the platform continues with the rest.");
    expect(session.text()).toContain(`service why ${operation.id}`);
    expect(session.text()).toContain(`/v1/bulk_operations/${operation.id}/cancel`);
  });

  it("sends nothing without confirmation", async () => {
    await failOrders(1);
    const before = receiver.received.length;
    const session = runInTerminal(["deliveries", "retry", "--failed"], { env: cli.platform.env });
    await session.waitFor("(y/N)");
    session.type(ENTER);
    expect(await session.ended).toBe(1);
    expect(session.text()).toContain("Nothing was sent");
    expect(receiver.received.length).toBe(before);
  });
});
