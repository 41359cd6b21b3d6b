import type { Queries } from "./database.ts";

/** What fan-out needs of an endpoint. */
export interface SubscribedEndpoint {
  id: string;
  /** JSON array of subscriptions. */
  events: string;
}

export function enabledEndpoints(queries: Queries, environment: number): Promise<SubscribedEndpoint[]> {
  return queries.all("SELECT id, events FROM webhook_endpoints WHERE environment = $1 AND status = 'enabled'", [
    environment,
  ]);
}
