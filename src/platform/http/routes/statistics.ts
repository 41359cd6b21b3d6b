import { Statistics, StatisticsQuery } from "../../../contract/schemas/statistics.ts";
import type { EnvironmentTime } from "../../time/environment-time.ts";
import { readStatistics } from "../../observability/statistics.ts";
import { type Operation, readOperation } from "../operation.ts";

export function statisticsOperations(time: EnvironmentTime): Operation[] {
  return [
    readOperation({
      name: "getStatistics",
      summary: "Retrieve counts of events, attempts, latencies and failures by minute",
      method: "GET",
      path: "/v1/statistics",
      scope: "deliveries:read",
      query: StatisticsQuery,
      response: { status: 200, schema: Statistics },
      read: async ({ caller, query }, queries) => {
        const { now } = await time.read(queries, caller.tenant);
        return readStatistics(queries, caller.tenant.environment, now, query);
      },
    }),
  ];
}
