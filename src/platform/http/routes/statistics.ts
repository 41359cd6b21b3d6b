import type { Statistics } from "../../../contract/schemas/statistics.ts";
import type { EnvironmentTime } from "../../time/environment-time.ts";
import { readStatistics } from "../../observability/statistics.ts";
import type { Queries } from "../../storage/database.ts";
import type { Handlers } from "../operation.ts";

/** Returns how many sessions listen to an environment, and to what. */
export type CountListeners = (
  queries: Queries,
  environment: number,
) => Promise<Pick<Statistics, "listeners" | "listener_events">>;

export function statisticsHandlers(time: EnvironmentTime, countListeners: CountListeners): Handlers<"statistics"> {
  return {
    getStatistics: async ({ caller, query }, queries) => {
      const { environment } = caller.tenant;
      const { now } = await time.read(queries, caller.tenant);
      const listeners = await countListeners(queries, environment);
      return { ...(await readStatistics(queries, environment, now, query)), ...listeners };
    },
  };
}
