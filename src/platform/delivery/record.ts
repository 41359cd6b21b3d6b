import type { Activity } from "../activity.ts";
import type { Transaction } from "../storage/database.ts";
import { recordOutcomes } from "../storage/delivery-queue.ts";
import { disableEndpoint } from "../storage/webhook-endpoints.ts";
import type { Finished } from "./courier.ts";

/** Records finished attempts; answers the endpoints that were disabled because they are gone. */
export async function recordFinished(tx: Transaction, finished: readonly Finished[]): Promise<string[]> {
  await recordOutcomes(
    tx,
    finished.map(({ outcome }) => outcome),
  );
  const disabled: string[] = [];
  for (const { delivery, endpointId, goneUrl } of finished) {
    if (goneUrl === undefined) continue;
    if (await disableEndpoint(tx, delivery.environment, endpointId, goneUrl)) disabled.push(endpointId);
  }
  return disabled;
}

/** Tells of finished attempts once they are durable. */
export function reportFinished(
  report: (activity: Activity) => void,
  finished: readonly Finished[],
  disabled: readonly string[],
): void {
  for (const { delivery, endpointId, outcome } of finished) {
    report({
      event: "delivery",
      delivery: delivery.id,
      endpoint: endpointId,
      event_id: delivery.event_id,
      event_type: delivery.event_type,
      attempt: delivery.attempt_count + 1,
      status: outcome.status,
      status_code: outcome.status_code,
      error: outcome.error,
      duration_ms: outcome.duration_ms,
    });
  }
  for (const endpoint of disabled) {
    report({ event: "warning", message: `The endpoint ${endpoint} answered 410 Gone and was disabled.` });
  }
}
