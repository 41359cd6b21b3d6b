import { OPERATIONS } from "../../contract/operations.ts";
import { OBJECT_KINDS } from "../../contract/resources.ts";
import type { InviteTools } from "../domain/users.ts";
import type { Versions } from "../domain/versions.ts";
import type { EndpointTools } from "../domain/webhook-endpoints.ts";
import type { RequestRecorder } from "../observability/request-recorder.ts";
import type { EnvironmentTime } from "../time/environment-time.ts";
import { type AnyHandler, type Handlers, type Route, routeOf } from "./operation.ts";
import { accountHandlers } from "./routes/account.ts";
import { apiKeyHandlers } from "./routes/api-keys.ts";
import { bulkOperationHandlers } from "./routes/bulk-operations.ts";
import { deliveryHandlers } from "./routes/deliveries.ts";
import { eventHandlers } from "./routes/events.ts";
import { oauthAppHandlers } from "./routes/oauth-apps.ts";
import { faultHandlers } from "./routes/faults.ts";
import { objectHandlers } from "./routes/objects.ts";
import { requestLogHandlers } from "./routes/request-logs.ts";
import { sandboxHandlers } from "./routes/sandbox.ts";
import { type Listeners, statisticsHandlers } from "./routes/statistics.ts";
import { type ClockAdvancer, testClockHandlers } from "./routes/test-clock.ts";
import { webhookEndpointHandlers } from "./routes/webhook-endpoints.ts";

/** Dependencies of the operations. */
export interface OperationTools extends InviteTools, EndpointTools {
  time: EnvironmentTime;
  versions: Versions;
  requests: RequestRecorder;
  clockAdvancer: ClockAdvancer;
  /** How long a request may take. */
  requestSeconds: number;
  listeners: Listeners;
}

/** Returns every operation of the API with its handler. */
export function routesOf(tools: OperationTools): Route[] {
  const { vault, clock } = tools;
  const handlers: Handlers<string> = {
    ...eventHandlers(vault, clock, tools.listeners),
    ...webhookEndpointHandlers(tools),
    ...deliveryHandlers(vault),
    ...bulkOperationHandlers(vault),
    ...testClockHandlers(clock, tools.clockAdvancer, tools.requestSeconds),
    ...sandboxHandlers(clock),
    ...faultHandlers(),
    ...apiKeyHandlers(tools),
    ...oauthAppHandlers(tools),
    ...requestLogHandlers(vault, tools.requests),
    ...accountHandlers(tools),
    ...statisticsHandlers(tools.time, tools.listeners),
  };
  const byName = Object.assign({}, handlers, ...OBJECT_KINDS.map((kind) => objectHandlers(kind, vault))) as Record<
    string,
    AnyHandler
  >;
  return OPERATIONS.map((operation) => routeOf(operation, byName[operation.name]!));
}
