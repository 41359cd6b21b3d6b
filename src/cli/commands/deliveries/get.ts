import type { Command } from "commander";
import type { Client } from "../../../client/http.ts";
import { apiPath } from "../../../client/base-url.ts";
import type { Attempt, Delivery } from "../../../contract/schemas/delivery.ts";
import type { TestClock } from "../../../contract/schemas/test-clock.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { printable } from "../../terminal/printable.ts";
import { CLOCK_PATH } from "../clock/view.ts";
import { DELIVERIES } from "./view.ts";

export function registerGet(deliveries: Command, context: Context): void {
  const get = deliveries
    .command("get")
    .description("Show a delivery with a timeline of its attempts")
    .argument("<id>", "ID of the delivery", objectId)
    .action((id: string) => runGet(id, context));
  addExamples(addFields(get, DELIVERIES.view), [
    `service deliveries get ${DELIVERIES.exampleId}`,
    `service deliveries get ${DELIVERIES.exampleId} --json --jq '.attempts[-1].response_excerpt'`,
  ]);
}

async function runGet(id: string, context: Context): Promise<void> {
  const { output } = context;
  const client = await context.client();
  const { body: delivery } = await client.request<Delivery>({
    method: "GET",
    path: DELIVERIES.path + apiPath`/${id}`,
  });
  const drawn = !output.json && !output.quiet && !output.chosen;
  // Asked before anything is printed: a spinner would come in between.
  const now = drawn && output.terminal ? await timeOf(delivery, client, context) : 0;
  await output.object(delivery, DELIVERIES.view);
  if (!drawn) return;
  if (!output.terminal) {
    for (const [i, attempt] of (delivery.attempts ?? []).entries()) output.line(attemptRecord(attempt, i + 1));
    return;
  }
  const { timelineLines } = await import("./timeline.ts");
  for (const line of timelineLines(delivery, { styles: output.styles, now, width: output.width })) output.line(line);
  if (delivery.endpoint !== null && delivery.status !== "succeeded") {
    output.note(`\nRetry it now:\n  service deliveries retry ${id}`);
  }
}

/** Now, on the clock that plans the next attempt: a sandbox's may be ahead of real time. */
async function timeOf(delivery: Delivery, client: Client, context: Context): Promise<number> {
  if (delivery.livemode || delivery.next_attempt === null) return context.now();
  const { body } = await client.request<TestClock>({ method: "GET", path: CLOCK_PATH });
  return Date.parse(body.now);
}

/** The line that a pipe gets for one attempt: number, time, status, duration in milliseconds, error, reply. */
function attemptRecord({ at, status_code, duration_ms, error, response_excerpt }: Attempt, number: number): string {
  const values = [
    number,
    at,
    status_code ?? "",
    duration_ms,
    printable(error ?? ""),
    printable(response_excerpt ?? ""),
  ];
  return ["attempt", ...values].join("\t");
}
