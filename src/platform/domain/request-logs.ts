import { kindOfId, timeOfId } from "../../contract/ids.ts";
import type { FaultEffect } from "../../contract/schemas/fault.ts";
import type {
  RequestExchange,
  RequestLog,
  RequestLogDetail,
  RequestLogListQuery,
} from "../../contract/schemas/request-log.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Queries } from "../storage/database.ts";
import type { PageRequest } from "../storage/page.ts";
import { type ListedBody, openBody } from "../storage/event-body.ts";
import { newestEventsOf } from "../storage/events.ts";
import { findRequestLog, listRequestLogs, type RequestLogRow } from "../storage/request-logs.ts";
import { existing } from "./api-error.ts";
import { isRelatable } from "./events.ts";
import type { Tenant } from "./request-context.ts";

export async function pageOfRequestLogs(
  queries: Queries,
  tenant: Tenant,
  page: PageRequest,
  { method, path, status, key, reads }: RequestLogListQuery,
): Promise<RequestLog[]> {
  const rows = await listRequestLogs(queries, page, {
    method,
    path,
    status,
    keyId: key,
    onlyFailedReads: reads === "failed",
  });
  return rows.map((row) => toRequestLog(row, tenant));
}

const NOTHING_STORED: RequestExchange = {
  client_address: null,
  query: null,
  request_headers: null,
  request_body: null,
  response_headers: null,
  response_body: null,
};

/** Query and bodies show what their operation shows. */
const HIDDEN = { query: null, request_body: null, response_body: null };

/**
 * Returns a request with its headers and bodies, and the events that it caused. `missingScope` returns what the caller
 * lacks to see its bodies. Throws ApiError.
 */
export async function getRequestLog(
  queries: Queries,
  tenant: Tenant,
  id: string,
  missingScope: (request: { method: string; path: string }) => string | null,
): Promise<RequestLogDetail> {
  const row = await existing("request", id, () => findRequestLog(queries, tenant.environment, id));
  const exchange = row.detail === null ? NOTHING_STORED : (JSON.parse(row.detail) as RequestExchange);
  const events = await eventsCausedBy(queries, row, exchange);
  const missing = missingScope(row);
  const shown = missing === null ? exchange : { ...exchange, ...HIDDEN };
  return { ...toRequestLog(row, tenant), ...shown, missing_scope: missing, events };
}

/** Maximum number of events about one object to search. */
const MAX_EVENTS = 50;

/** An event names its request, but is found by its object: the one in the path, or the one in the response. */
async function eventsCausedBy(queries: Queries, log: RequestLogRow, { response_body: body }: RequestExchange) {
  const { environment, id, method, path } = log;
  if (method === "GET" || method === "HEAD") return [];
  const [, inResponse] = /^\{"id":"([A-Za-z0-9_]+)"/.exec(body ?? "") ?? [];
  const candidates = new Set([...path.split("/"), inResponse ?? ""]);
  const found: string[] = [];
  for (const candidate of candidates) {
    const listed: ListedBody[] =
      kindOfId(candidate) === "event"
        ? [{ id: candidate, body: null, body_checksum: null, body_bytes: 0 }]
        : isRelatable(candidate)
          ? await newestEventsOf(queries, environment, candidate, MAX_EVENTS)
          : [];
    for (const event of listed) {
      const opened = await openBody(queries, environment, event);
      // A damaged event does not show which request caused it.
      if (opened === undefined || opened.isDamaged) continue;
      const { request } = JSON.parse(opened.body) as { request?: { id: string | null } };
      if (request?.id === id) found.push(event.id);
    }
  }
  return found;
}

function faultOf({ fault }: RequestLogRow): RequestLog["fault"] {
  const [id, effect] = fault?.split(" ") ?? [];
  return id === undefined ? null : { id, effect: effect as FaultEffect };
}

function toRequestLog(row: RequestLogRow, tenant: Tenant): RequestLog {
  return {
    id: row.id,
    object: "request_log",
    method: row.method,
    path: row.path,
    status: row.status,
    duration_ms: Math.round(row.duration_us / 100) / 10,
    key: row.key_id,
    user: row.user_id,
    idempotency_key: row.idempotency_key,
    error_code: row.error_code,
    fault: faultOf(row),
    client: row.client,
    left_out: row.left_out,
    livemode: tenant.livemode,
    created: formatTimestamp(timeOfId(row.id)),
  };
}
