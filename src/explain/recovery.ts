import type { StatisticsEndpoint, StatisticsFailure } from "../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";

/** Returns true if the newest attempt succeeded and nothing waits any more. */
export function hasRecovered(
  { health }: WebhookEndpoint,
  { pending, last_success_at: success }: StatisticsEndpoint,
  failures: readonly StatisticsFailure[],
): boolean {
  return health.failing_since === null && success !== null && success >= newestOf(failures) && pending === 0;
}

/** Returns the time of the newest failure; empty if there is none. */
export function newestOf(failures: readonly StatisticsFailure[]): string {
  return failures.reduce((newest, { last_at: at }) => (at > newest ? at : newest), "");
}
