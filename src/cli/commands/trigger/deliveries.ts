import type { Client } from "../../../client/http.ts";
import { listItems } from "../../../client/pages.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Context } from "../../context.ts";

const FIRST_WAIT_MILLISECONDS = 100;
const LONGEST_WAIT_MILLISECONDS = 2000;

/** Waits until every delivery of an event has succeeded or failed for good, and returns them. */
export async function awaitDeliveries(client: Client, event: string, context: Context): Promise<Delivery[]> {
  for (let wait = FIRST_WAIT_MILLISECONDS; ; wait = Math.min(wait * 1.5, LONGEST_WAIT_MILLISECONDS)) {
    const deliveries: Delivery[] = [];
    for await (const delivery of listItems<Delivery>(client, "/v1/deliveries", { query: { event } }))
      deliveries.push(delivery);
    if (deliveries.every(({ status }) => status !== "pending")) return deliveries;
    await context.sleep(wait);
  }
}
