import { kindsWith } from "../../contract/resources.ts";
import type { Services } from "../services.ts";
import type { Operation } from "./operation.ts";
import { apiKeyOperations } from "./routes/api-keys.ts";
import { bulkOperations } from "./routes/bulk-operations.ts";
import { deliveryOperations } from "./routes/deliveries.ts";
import { eventOperations } from "./routes/events.ts";
import { identityOperations } from "./routes/identity.ts";
import { oauthAppOperations } from "./routes/oauth-apps.ts";
import { oauthGrantOperations } from "./routes/oauth-grants.ts";
import { objectOperations } from "./routes/objects.ts";
import { requestLogOperations } from "./routes/request-logs.ts";
import { sessionOperations } from "./routes/sessions.ts";
import { statisticsOperations } from "./routes/statistics.ts";
import { type ClockAdvancer, testClockOperations } from "./routes/test-clock.ts";
import { userOperations } from "./routes/users.ts";
import { webhookEndpointOperations } from "./routes/webhook-endpoints.ts";

/** Returns every operation of the API, in the document's order. */
export function operationsOf(services: Services, clockAdvancer: ClockAdvancer): Operation[] {
  return [
    ...kindsWith("fields").flatMap((kind) => objectOperations(kind, services.vault)),
    ...eventOperations(services),
    ...webhookEndpointOperations(services),
    ...deliveryOperations(services.vault),
    ...bulkOperations(services.vault),
    ...testClockOperations(services, clockAdvancer),
    ...apiKeyOperations(services),
    ...oauthAppOperations(services),
    ...requestLogOperations(services),
    ...identityOperations(services.versions),
    ...statisticsOperations(services),
    ...userOperations(services),
    ...sessionOperations(services),
    ...oauthGrantOperations(services),
  ];
}
