import type { ListenerResult, ListenerConnection } from "../../../contract/schemas/statistics.ts";
import type { Tenant } from "../../domain/request-context.ts";
import type { EnvironmentTime } from "../../time/environment-time.ts";
import { readStatistics } from "../../observability/statistics.ts";
import type { Queries } from "../../storage/database.ts";
import type { Handlers } from "../operation.ts";

/** What is known of the connections of `service listen`. */
export interface Listeners {
  /** Returns how many connections listen to an environment, or to an event type of it. */
  count(queries: Queries, environment: number, type?: string): Promise<number>;
  /** Returns the connections of this process in an environment: open ones, then the last of each listener. */
  connectionsOf(tenant: Tenant): ListenerConnection[];
  /** Returns what listeners did with an event that they left without a delivery. `now` is the environment's time. */
  resultsOf(environment: number, eventId: string, now: number): ListenerResult[];
}

export function statisticsHandlers(time: EnvironmentTime, listeners: Listeners): Handlers<"statistics"> {
  return {
    getStatistics: async ({ caller, query }, queries) => {
      const { environment } = caller.tenant;
      const { now } = await time.read(queries, caller.tenant);
      return {
        ...(await readStatistics(queries, environment, now, query)),
        listeners: await listeners.count(queries, environment),
        listener_connections: listeners.connectionsOf(caller.tenant),
        listener_results: query.event === undefined ? null : listeners.resultsOf(environment, query.event, now),
      };
    },
  };
}
