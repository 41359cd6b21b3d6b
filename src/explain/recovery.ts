import type { StatisticsEndpoint, StatisticsFailure } from "../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";

/** While deliveries wait, a success counts this long after the newest failure: an endpoint may fail every other time. */
const STABLE_MILLISECONDS = 600_000;

/** Returns true if the newest attempt succeeded, and either nothing waits any more or the last failure is not recent. */
export function hasRecovered(
  { health }: WebhookEndpoint,
  { pending, last_success_at: success }: StatisticsEndpoint,
  failures: readonly StatisticsFailure[],
): boolean {
  const newest = newestOf(failures);
  if (health.failing_since !== null || success === null || success < newest) return false;
  return pending === 0 || newest === "" || Date.parse(success) - Date.parse(newest) >= STABLE_MILLISECONDS;
}

/** Returns true if the platform reported that an endpoint works again after its newest failure, and an attempt succeeded. */
export function isRecoveryReported(
  reported: { created: string } | undefined,
  { last_success_at: success }: Pick<StatisticsEndpoint, "last_success_at">,
  failures: readonly StatisticsFailure[],
): boolean {
  const newest = newestOf(failures);
  return reported !== undefined && reported.created >= newest && success !== null && success >= newest;
}

/** Returns the time of the newest failure; empty if there is none. */
export function newestOf(failures: readonly StatisticsFailure[]): string {
  return failures.reduce((newest, { last_at: at }) => (at > newest ? at : newest), "");
}
