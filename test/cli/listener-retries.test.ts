import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { join } from "node:path";
import type { BulkOperation } from "../../src/contract/schemas/bulk-operation.ts";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import type { Explanation } from "../../src/cli/explanation.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startPlatformOn } from "../support/platform.ts";
import { temporaryFolder } from "../platform/storage/test-database.ts";
import { type RunningListener, startListener } from "../support/listener.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

/** Paths that respond with 500. */
const failing = new Set<string>();
let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) =>
    response.writeHead(failing.has(path) ? 500 : 200).end(),
  );
});
afterAll(() => receiver.close());
beforeEach(async () => {
  failing.clear();
  await json("sandbox", "reset", "--yes");
});

const url = (path: string) => receiver.url + path;
const sessions: RunningListener[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.interrupt();
});
async function listen(path: string, ...flags: string[]): Promise<RunningListener> {
  const session = await startListener(cli.platform.env, ["--forward-to", url(path), "--retries", "0", ...flags]);
  sessions.push(session);
  return session;
}
const deliveriesOf = (event: string) => json<Delivery[]>("deliveries", "list", "--event", event);
const got = (path: string) => receiver.received.filter((request) => request.path === path).length;
const why = async (id: string) => (await json<Explanation>("why", id)).findings[0]!;

/** Triggers an event, and resolves with its delivery to each path once all are known. */
async function trigger(...paths: string[]): Promise<Delivery[]> {
  const order = await json<{ id: string }>("orders", "create", "--amount", "100", "--currency", "EUR");
  const [event] = await json<{ id: string }[]>("events", "list", "--related", order.id);
  await expect.poll(async () => (await deliveriesOf(event!.id)).length).toBe(paths.length);
  const all = await deliveriesOf(event!.id);
  return paths.map((path) => all.find(({ target }) => target === url(path))!);
}

/** The retry of a session is possible once the platform knows where it forwards. */
const connected = (count: number) =>
  expect
    .poll(async () => {
      const statistics = await json<{ listener_connections: { targets: object[]; disconnected_at: string | null }[] }>(
        "api",
        "GET",
        "/v1/statistics",
      );
      return statistics.listener_connections.filter((one) => one.disconnected_at === null && one.targets.length > 0);
    })
    .toHaveLength(count);

it("a retry survives that the platform is killed before it is delivered", async () => {
  const folder = temporaryFolder();
  const database = join(folder.path, "platform.db");
  let platform = await startPlatformOn(database);
  const port = Number(new URL(platform.baseUrl).port);
  const { env, api } = platform;
  for (const path of ["/healthy", "/broken"]) {
    sessions.push(await startListener(env, ["--forward-to", url(path), "--retries", "0"]));
  }
  failing.add("/broken");
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const deliveries = async () => (await api("GET", "/v1/deliveries")).body.data as Delivery[];
  await expect.poll(async () => (await deliveries()).length).toBe(2);
  const id = (await deliveries()).find(({ status }) => status === "failed")!.id;
  const before = got("/healthy");
  failing.clear();
  expect((await api("POST", `/v1/deliveries/${id}/retry`)).status).toBe(200);
  await platform.kill();
  platform = await startPlatformOn(database, port);
  await expect.poll(async () => (await api("GET", `/v1/deliveries/${id}`)).body.status).toBe("succeeded");
  expect(got("/healthy")).toBe(before);
  for (const session of sessions.splice(0)) await session.interrupt();
  await platform.stop();
  folder.remove();
});

describe("service deliveries retry of a listener's delivery", () => {
  it("succeeds at another target after the listener was restarted there", async () => {
    failing.add("/500");
    const first = await listen("/500");
    const [delivery] = await trigger("/500");
    expect(delivery).toMatchObject({ status: "failed", attempt_count: 1 });
    await first.interrupt();
    await listen("/ok");
    await connected(1);
    const { exitCode, stderr } = await service(["deliveries", "retry", delivery!.id, "--wait"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(await deliveriesOf(delivery!.event)).toMatchObject([
      { id: delivery!.id, status: "succeeded", attempt_count: 2, target: url("/ok") },
    ]);
    expect(await json("deliveries", "list", "--status", "failed")).toEqual([]);
    expect(await why(delivery!.id)).toMatchObject({ code: "delivered", fix: null });
  });

  it("reaches only the session with its target, and the other one nothing twice", async () => {
    failing.add("/broken");
    await listen("/healthy");
    await listen("/broken");
    await connected(2);
    const [healthy, broken] = await trigger("/healthy", "/broken");
    failing.clear();
    const before = got("/healthy");
    expect(await service(["deliveries", "retry", broken!.id, "--wait"])).toMatchObject({ exitCode: 0 });
    expect(await json<Delivery>("deliveries", "get", broken!.id)).toMatchObject({ status: "succeeded" });
    await trigger("/healthy", "/broken");
    await expect.poll(() => got("/healthy")).toBe(before + 1);
    expect(await json("deliveries", "get", healthy!.id)).toMatchObject({ attempt_count: 1 });
  });

  it("is not possible while only another session is connected, and says how to send the event there", async () => {
    failing.add("/broken");
    await listen("/healthy");
    const broken = await listen("/broken");
    await connected(2);
    const [good, bad] = await trigger("/healthy", "/broken");
    await broken.interrupt();
    await connected(1);
    const before = got("/healthy");
    for (let count = 0; count < 2; count++) {
      const { exitCode, stdout } = await service(["deliveries", "retry", "--failed", "--yes", "--json"]);
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout) as BulkOperation).toMatchObject({ total: 1, done: 0, failed: 1 });
    }
    const [operation] = (await json<{ data: BulkOperation[] }>("api", "GET", "/v1/bulk_operations")).data;
    const command = `service events replay ${bad!.event} --forward-to ${url("/broken").replace("http://", "")}`;
    expect(operation!.last_error).toContain(`no listener forwards order.created to ${url("/broken")}`);
    expect(await why(operation!.id!)).toMatchObject({ code: "delivery_failed", fix: command });
    for (const retried of ["--failed", bad!.id]) {
      const { exitCode, stderr } = await service(["deliveries", "retry", retried]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(command);
    }
    expect(got("/healthy")).toBe(before);
    expect((await why(bad!.listener!)).evidence).toContain(`One that forwarded to ${url("/broken")} disconnected at `);
    expect(await json("deliveries", "get", good!.id)).toMatchObject({ attempt_count: 1 });
    expect(await why(bad!.id)).toMatchObject({ code: "receiver_error", fix: command });
    failing.clear();
    const [, ...args] = command.split(" ");
    expect(await service(args)).toMatchObject({ exitCode: 0 });
    await expect.poll(async () => (await json<Delivery>("deliveries", "get", bad!.id)).status).toBe("succeeded");
    expect(await service(["deliveries", "retry", "--failed"])).toMatchObject({ exitCode: 0 });
  });

  it("says in one step how to send the event while no listener is connected", async () => {
    failing.add("/broken");
    const session = await listen("/broken");
    const [delivery] = await trigger("/broken");
    await session.interrupt();
    failing.clear();
    const { exitCode, stderr } = await service(["deliveries", "retry", delivery!.id]);
    expect(exitCode).toBe(1);
    const [, command = ""] = /service (events replay .*)/.exec(stderr) ?? [];
    expect(await service(command.split(" "))).toMatchObject({ exitCode: 0 });
    await expect.poll(async () => (await json<Delivery>("deliveries", "get", delivery!.id)).status).toBe("succeeded");
  });

  it("reaches a restarted session, and not the one that has the event", async () => {
    failing.add("/broken");
    await listen("/healthy");
    const broken = await listen("/broken");
    await connected(2);
    const [, bad] = await trigger("/healthy", "/broken");
    await broken.interrupt();
    await listen("/repaired");
    await connected(2);
    const before = got("/healthy");
    expect(await json<BulkOperation>("deliveries", "retry", "--failed")).toMatchObject({ total: 1, done: 1 });
    await expect.poll(async () => (await json<Delivery>("deliveries", "get", bad!.id)).target).toBe(url("/repaired"));
    await expect.poll(async () => (await json<Delivery>("deliveries", "get", bad!.id)).status).toBe("succeeded");
    expect(got("/healthy")).toBe(before);
    expect(await deliveriesOf(bad!.event)).toHaveLength(2);
  });

  it("counts for the failed delivery, too, if a new session gets past events", async () => {
    failing.add("/old");
    const first = await listen("/old");
    const [delivery] = await trigger("/old");
    await first.interrupt();
    await listen("/new", "--since", "1h");
    await expect.poll(async () => (await json<Delivery>("deliveries", "get", delivery!.id)).status).toBe("succeeded");
    expect(await deliveriesOf(delivery!.event)).toHaveLength(1);
  });
});
