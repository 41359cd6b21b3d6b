import type { ListenerResult, Statistics } from "../../../contract/schemas/statistics.ts";
import type { EnvironmentTime } from "../../time/environment-time.ts";
import { readStatistics } from "../../observability/statistics.ts";
import type { Queries } from "../../storage/database.ts";
import type { Handlers } from "../operation.ts";

/** What is known of the sessions of `service listen`. */
export interface Listeners {
  /** Returns how many sessions listen to an environment, or to an event type of it, and to what. */
  count(
    queries: Queries,
    environment: number,
    type?: string,
  ): Promise<Pick<Statistics, "listeners" | "listener_events">>;
  /** Returns what listeners did with an event that they left without a delivery. */
  resultsOf(environment: number, eventId: string): ListenerResult[];
}

export function statisticsHandlers(time: EnvironmentTime, listeners: Listeners): Handlers<"statistics"> {
  return {
    getStatistics: async ({ caller, query }, queries) => {
      const { environment } = caller.tenant;
      const { now } = await time.read(queries, caller.tenant);
      return {
        ...(await readStatistics(queries, environment, now, query)),
        ...(await listeners.count(queries, environment)),
        listener_results: query.event === undefined ? null : listeners.resultsOf(environment, query.event),
      };
    },
  };
}
