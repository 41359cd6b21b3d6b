import { timeOfId } from "../../contract/ids.ts";
import type { RequestLog, RequestLogListQuery } from "../../contract/schemas/request-log.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { Queries } from "../storage/database.ts";
import type { PageRequest } from "../storage/page.ts";
import { listRequestLogs, type RequestLogRow } from "../storage/request-logs.ts";
import type { Tenant } from "./request-context.ts";

export async function pageOfRequestLogs(
  queries: Queries,
  tenant: Tenant,
  page: PageRequest,
  { method, path, status, key }: RequestLogListQuery,
): Promise<RequestLog[]> {
  const rows = await listRequestLogs(queries, page, { method, path, status, keyId: key });
  return rows.map((row) => toRequestLog(row, tenant));
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
    livemode: tenant.livemode,
    created: formatTimestamp(timeOfId(row.id)),
  };
}
