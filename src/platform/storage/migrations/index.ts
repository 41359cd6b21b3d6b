import { initial } from "./001-initial.ts";
import { logOrder } from "./002-log-order.ts";
import { leftOutRequests } from "./003-left-out-requests.ts";
import { sandbox } from "./004-sandbox.ts";
import { endpointHeaders } from "./005-endpoint-headers.ts";
import { faults } from "./006-faults.ts";
import { errorNames } from "./007-error-names.ts";
import { finerLatencies } from "./008-finer-latencies.ts";
import { deliveryTargets } from "./009-delivery-targets.ts";
import { requestClients } from "./010-request-clients.ts";
import type { Migration } from "./migration.ts";

/** In the order in which they run. A migration never changes once it is listed here. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  logOrder,
  leftOutRequests,
  sandbox,
  endpointHeaders,
  faults,
  errorNames,
  finerLatencies,
  deliveryTargets,
  requestClients,
];
