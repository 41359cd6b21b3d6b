import { expect, it } from "vitest";
import type { Explanation } from "../../src/cli/explanation.ts";
import { startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { startListener } from "../support/listener.ts";
import { explained } from "./support/explained.ts";

const world = explained((_request, response) => void response.writeHead(500).end());

/** Returns the ID that `service why` explains if it gets none. */
async function newest(): Promise<string> {
  const { stdout } = await world.service(["why", "--json"]);
  return (JSON.parse(stdout) as Explanation).id;
}

async function reject(): Promise<string> {
  return (await world.api("POST", "/v1/customers", {})).headers.get("request-id")!;
}

it("why explains without an ID what failed last, also while the test clock is ahead", async () => {
  await world.endpoint("/");
  await reject();
  const { deliveries } = await world.order();
  const [delivery] = deliveries;
  expect(await newest()).toBe(delivery!.id);
  const second = await reject();
  await expect.poll(newest).toBe(second);
  // The retries fall due.
  await advanceClock(world.api, 3600);
  expect(await newest()).toBe(delivery!.id);
  const third = await reject();
  await expect.poll(newest).toBe(third);
  await advanceClock(world.api, 3 * 86_400);
  expect(await newest()).toBe(delivery!.id);
});

it("why claims no delay of an event that an advance of the test clock caused", async () => {
  const accepting = await startScriptedReceiver();
  const listener = await startListener(world.env, [
    "--forward-to",
    accepting.url,
    "--events",
    "webhook_endpoint.failing",
  ]);
  await world.clear();
  await world.endpoint("/");
  await world.order();
  await advanceClock(world.api, 3 * 86_400);
  await accepting.until(1);
  const { event: id } = accepting.received[0]!;
  await expect.poll(async () => (await world.deliveries(`event=${id}&status=succeeded`)).length).toBe(1);
  const { stdout } = await world.service(["why", id, "--json"]);
  const { findings } = JSON.parse(stdout) as Explanation;
  expect(findings[0]!.summary).toMatch(/^Delivered by a listener in \d/);
  expect(findings.at(-1)!.summary).toMatch(
    /^Times are on the test clock, now 6 d .+ ahead of real time; API requests and connections of listeners show real time$/,
  );
  await listener.interrupt();
  await accepting.close();
});
