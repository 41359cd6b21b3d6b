import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Explanation } from "../../src/cli/explanation.ts";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import type { Event } from "../../src/contract/schemas/event.ts";
import type { Statistics } from "../../src/contract/schemas/statistics.ts";
import { temporaryFolder } from "../platform/storage/test-database.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { startListener } from "../support/listener.ts";
import { type CliOptions, runCli } from "../support/run-cli.ts";
import { startPlatformOn } from "../support/platform.ts";

let status = 500;
let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver((_request, response) => response.writeHead(status).end("no table"));
});
afterAll(() => receiver.close());

it("the attempts of a listener that ends before the next one are recorded, survive a restart, and can be retried", async () => {
  const folder = temporaryFolder();
  const database = join(folder.path, "platform.db");
  let platform = await startPlatformOn(database);
  const port = Number(new URL(platform.baseUrl).port);
  const { env } = platform;
  const listen = () => startListener(env, ["--forward-to", receiver.url, "--retries", "10"]);
  const run = (args: readonly string[], options: CliOptions = {}) => runCli(args, { ...options, env });
  const json = async <Result>(...args: string[]) => JSON.parse((await run([...args, "--json"])).stdout) as Result;
  const why = async (id: string) => (await json<Explanation>("why", id)).findings[0]!;
  const failed = () => json<Delivery[]>("deliveries", "list", "--status", "failed");

  let listener = await listen();
  const { id } = await json<Event>("trigger", "order.created");
  const attempts = async () =>
    (await json<Statistics>("api", "GET", `/v1/statistics?event=${id}`)).listener_results[0]?.attempts.length;
  await expect.poll(attempts).toBeGreaterThan(1);
  expect(await failed()).toEqual([]);
  await listener.interrupt();
  await platform.stop();

  platform = await startPlatformOn(database, port);
  status = 200;
  listener = await listen();
  const [delivery, ...others] = await failed();
  expect(others).toEqual([]);
  expect(delivery).toMatchObject({ event: id, last_status_code: 500, endpoint: null });
  expect(delivery!.attempt_count).toBeGreaterThan(1);
  for (const about of [id, delivery!.id]) {
    expect(await why(about)).toMatchObject({
      code: "receiver_error",
      subject: delivery!.id,
      summary: expect.stringMatching(/^Your application responded with 500; .+ failed, and no retries are left$/),
      evidence: expect.stringMatching(/^Attempt \d at .+: 500 in .+, "no table"$/),
    });
  }
  expect((await run(["why"])).stderr).toContain(`Newest failure: ${delivery!.id}`);
  expect(await run(["deliveries", "retry", "--failed"])).toMatchObject({ exitCode: 0 });
  const get = () => json<Delivery>("deliveries", "get", delivery!.id);
  await expect.poll(async () => (await get()).status).toBe("succeeded");
  expect((await get()).attempt_count).toBe(delivery!.attempt_count + 1);
  await listener.interrupt();
  await platform.stop();
  folder.remove();
});
