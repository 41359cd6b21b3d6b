import { core } from "./001-core.ts";
import { delivery } from "./002-delivery.ts";
import { identity } from "./003-identity.ts";
import { requestLog } from "./004-request-log.ts";
import { manyProcesses } from "./005-many-processes.ts";
import { dashboard } from "./006-dashboard.ts";
import { listeners } from "./007-listeners.ts";
import { eventChecksums } from "./008-event-checksums.ts";
import { begunAttempts } from "./009-begun-attempts.ts";
import { eventLog } from "./010-event-log.ts";
import { keyCreators } from "./011-key-creators.ts";
import { counts } from "./012-counts.ts";
import { clockAdvances } from "./013-clock-advances.ts";
import type { Migration } from "./migration.ts";

/** In the order in which they run. A released migration never changes. */
export const MIGRATIONS: readonly Migration[] = [
  core,
  delivery,
  identity,
  requestLog,
  manyProcesses,
  dashboard,
  listeners,
  eventChecksums,
  begunAttempts,
  eventLog,
  keyCreators,
  counts,
  clockAdvances,
];
