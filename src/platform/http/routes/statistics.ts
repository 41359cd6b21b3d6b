import type { EnvironmentTime } from "../../time/environment-time.ts";
import { readStatistics } from "../../observability/statistics.ts";
import type { Handlers } from "../operation.ts";

export function statisticsHandlers(time: EnvironmentTime): Handlers<"statistics"> {
  return {
    getStatistics: async ({ caller, query }, queries) => {
      const { now } = await time.read(queries, caller.tenant);
      return readStatistics(queries, caller.tenant.environment, now, query);
    },
  };
}
