import { expect, it } from "vitest";
import type { Explanation } from "../../src/cli/explanation.ts";
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

it("explains without an ID what failed last, also while the test clock is ahead", async () => {
  await world.endpoint("/");
  await reject();
  const { deliveries } = await world.order();
  const [delivery] = deliveries;
  expect(await newest()).toBe(delivery!.id);
  const second = await reject();
  await expect.poll(newest).toBe(second);
  // The retries fall due.
  await world.service(["clock", "advance", "1h"]);
  expect(await newest()).toBe(delivery!.id);
  const third = await reject();
  await expect.poll(newest).toBe(third);
  await world.service(["clock", "advance", "3d"]);
  expect(await newest()).toBe(delivery!.id);
});
