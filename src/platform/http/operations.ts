import { kindOfId } from "../../contract/ids.ts";
import { kindsWith } from "../../contract/resources.ts";
import type { InviteTools } from "../domain/users.ts";
import type { Versions } from "../domain/versions.ts";
import type { EndpointTools } from "../domain/webhook-endpoints.ts";
import type { Operation } from "./operation.ts";
import { identityOperations, oauthGrantOperations, sessionOperations, userOperations } from "./routes/account.ts";
import { apiKeyOperations } from "./routes/api-keys.ts";
import { bulkOperations } from "./routes/bulk-operations.ts";
import { deliveryOperations } from "./routes/deliveries.ts";
import { eventOperations } from "./routes/events.ts";
import { oauthAppOperations } from "./routes/oauth-apps.ts";
import { objectOperations } from "./routes/objects.ts";
import { requestLogOperations } from "./routes/request-logs.ts";
import { statisticsOperations } from "./routes/statistics.ts";
import { type ClockAdvancer, testClockOperations } from "./routes/test-clock.ts";
import { webhookEndpointOperations } from "./routes/webhook-endpoints.ts";
import type { RequestRecorder } from "../observability/request-recorder.ts";
import type { EnvironmentTime } from "../time/environment-time.ts";

/** What the operations work with. */
export interface OperationTools extends InviteTools, EndpointTools {
  time: EnvironmentTime;
  versions: Versions;
  requests: RequestRecorder;
  clockAdvancer: ClockAdvancer;
}

/** Returns every operation of the API, in the document's order. */
export function operationsOf(tools: OperationTools): Operation[] {
  const { vault, clock } = tools;
  const operations: Operation[] = [
    ...kindsWith("fields").flatMap((kind) => objectOperations(kind, vault)),
    ...eventOperations(vault, clock),
    ...webhookEndpointOperations(tools),
    ...deliveryOperations(vault),
    ...bulkOperations(vault),
    ...testClockOperations(clock, tools.clockAdvancer),
    ...apiKeyOperations(tools),
    ...oauthAppOperations(tools),
    ...requestLogOperations(vault, tools.requests, (request) => operationOf(operations, request)),
    ...identityOperations(tools.versions),
    ...statisticsOperations(tools.time),
    ...userOperations(tools),
    ...sessionOperations(clock),
    ...oauthGrantOperations(clock),
  ];
  return operations;
}

/** Returns the operation that a request with a path, with an ID or `{id}` in it, called. */
function operationOf(
  operations: readonly Operation[],
  { method, path }: { method: string; path: string },
): Operation | undefined {
  const called = operations.filter((operation) => operation.method === (method === "HEAD" ? "GET" : method));
  const template = path
    .split("/")
    .map((part) => (kindOfId(part) === undefined ? part : "{id}"))
    .join("/");
  return called.find((operation) => operation.path === template);
}
