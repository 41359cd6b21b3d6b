import { ERRORS } from "../../contract/errors.ts";
import { REQUEST_METHODS, type RequestMethod } from "../../contract/schemas/request-log.ts";
import { deleteFirst, insertRows } from "./batches.ts";
import type { Queries, SqlValue, Transaction } from "./database.ts";
import { type PageRequest, readMergedPage, readPage } from "./page.ts";

export interface RequestLogRow {
  environment: number;
  /** The request's ID, which contains its time. */
  id: string;
  method: RequestMethod;
  path: string;
  status: number;
  duration_us: number;
  key_id: string | null;
  user_id: string | null;
  idempotency_key: string | null;
  error_code: string | null;
  /** The ID of its fault, a space, and the effect. */
  fault: string | null;
  /** The program that sent it, if it is the command. */
  client: string | null;
  /** How many requests after it were left out. */
  left_out: number;
}

const NAMES = [
  "environment",
  "id",
  "method",
  "path",
  "status",
  "duration_us",
  "key_id",
  "user_id",
  "idempotency_key",
  "error_code",
  "fault",
  "client",
  "left_out",
] as const satisfies (keyof RequestLogRow)[];
const COLUMNS = NAMES.join(", ");

/** Every status of a recorded request. */
const STATUSES = [...new Set([101, 200, 201, 202, ...Object.values(ERRORS).map(({ status }) => status)])];

const READS: ReadonlySet<RequestMethod> = new Set(["GET", "HEAD"]);
/** The first status of an error. */
const FAILED = 400;

/** Adds rows. An existing one stays as it is. */
export const insertRequestLogs = insertRows<RequestLogRow>("request_logs", NAMES, "ON CONFLICT DO NOTHING");

/** Adds to the number of requests that were left out after a row. */
export function addLeftOut(tx: Transaction, { environment, id }: { environment: number; id: string }, count: number) {
  const sql = "UPDATE request_logs SET left_out = left_out + $3 WHERE environment = $1 AND id = $2";
  return tx.run(sql, [environment, id, count]);
}

/** The content of request and response, as JSON. */
export interface RequestDetailRow {
  environment: number;
  id: string;
  detail: string;
}

/** Adds details; those that exist stay as they are. */
export const insertRequestDetails = insertRows<RequestDetailRow>(
  "request_details",
  ["environment", "id", "detail"],
  "ON CONFLICT DO NOTHING",
);

/** Returns a request, with the content of request and response if it was stored. */
export function findRequestLog(queries: Queries, environment: number, id: string) {
  return queries.get<RequestLogRow & { detail: string | null }>(
    `SELECT ${NAMES.map((name) => `r.${name}`).join(", ")}, d.detail
     FROM request_logs r LEFT JOIN request_details d ON d.environment = r.environment AND d.id = r.id
     WHERE r.environment = $1 AND r.id = $2`,
    [environment, id],
  );
}

export interface RequestLogFilters {
  method: RequestMethod | undefined;
  /** Ends in `*` if it is only the beginning. */
  path: string | undefined;
  /** `404`, or `4xx` for its class. */
  status: string | undefined;
  keyId: string | undefined;
  /** True for only those of the GET and HEAD requests that failed. */
  onlyFailedReads?: boolean;
}

/**
 * Newest first. Every index ends in method, status and ID, so that the cost of a page depends only on its size,
 * whichever filters are used; the others are merged. With both path and key, rows are looked up by path. Only the
 * beginning of a path has no such index.
 */
export function listRequestLogs(
  queries: Queries,
  page: PageRequest,
  { method, path, status, keyId, onlyFailedReads = false }: RequestLogFilters,
): Promise<RequestLogRow[]> {
  if (!onlyFailedReads && [method, path, status, keyId].every((value) => value === undefined)) {
    return readPage(queries, "request_logs", COLUMNS, page, {});
  }
  const methods = method === undefined ? REQUEST_METHODS : [method];
  const alternatives = methods.flatMap((name) =>
    statusesOf(status).flatMap((code) =>
      onlyFailedReads && READS.has(name) && code < FAILED ? [] : { method: name, status: code },
    ),
  );
  if (alternatives.length === 0) return Promise.resolve([]);
  if (path?.endsWith("*") === true) return readPageOfPaths(queries, page, path.slice(0, -1), keyId, alternatives);
  if (queries.dialect === "postgres") return readJoinedPage(queries, page, { path, keyId }, alternatives);
  const index = path !== undefined ? "path" : keyId !== undefined ? "key" : "status";
  // SQLite considers reading all rows of the environment as good.
  return readMergedPage(
    queries,
    `request_logs INDEXED BY request_logs_by_${index}`,
    COLUMNS,
    page,
    { path, key_id: keyId },
    alternatives,
  );
}

/** IDs contain letters, digits and underscores. */
const AFTER_ALL_IDS = "~";

/**
 * PostgreSQL would take longer to plan a union of a hundred parts than to read it. Whole rows are compared and sorted,
 * so that only the index of all these columns has their order: with a condition for each column, the planner may choose
 * another one and read far more rows.
 */
function readJoinedPage(
  queries: Queries,
  { environment, position, before, from, limit }: PageRequest,
  { path, keyId }: Pick<RequestLogFilters, "path" | "keyId">,
  alternatives: readonly { method: RequestMethod; status: number }[],
): Promise<RequestLogRow[]> {
  const bounds = [position ?? before ?? AFTER_ALL_IDS, from ?? "", limit + 1];
  const [methods, statuses] = [alternatives.map(({ method }) => method), alternatives.map(({ status }) => status)];
  const parameters: SqlValue[] = [environment, methods.join(), statuses.join(), ...bounds];
  const value = (of: SqlValue) => `$${parameters.push(of)}`;
  let columns = "environment, method, status, id";
  let prefix = "$1, m, s";
  let others = "";
  if (path !== undefined) {
    columns = "environment, path, method, status, id";
    prefix = `$1, ${value(path)}, m, s`;
    if (keyId !== undefined) others = `AND key_id = ${value(keyId)}`;
  } else if (keyId !== undefined) {
    columns = "environment, key_id, method, status, id";
    prefix = `$1, ${value(keyId)}, m, s`;
    // Only such rows are in the index.
    others = "AND key_id IS NOT NULL";
  }
  return queries.all<RequestLogRow>(
    `SELECT ${COLUMNS}
     FROM unnest(string_to_array($2, ','), string_to_array($3, ',')::int[]) AS alternatives (m, s)
     CROSS JOIN LATERAL (
       SELECT ${COLUMNS} FROM request_logs
       WHERE (${columns}) < (${prefix}, $4) AND (${columns}) >= (${prefix}, $5) ${others}
       ORDER BY ${columns.replaceAll(",", " DESC,")} DESC LIMIT $6) AS page_of_one
     ORDER BY id DESC LIMIT $6`,
    parameters,
  );
}

/** Reads the rows from the newest on until a page of paths with this beginning is full. */
function readPageOfPaths(
  queries: Queries,
  { environment, position, before, from, limit }: PageRequest,
  start: string,
  keyId: string | undefined,
  alternatives: readonly { method: RequestMethod; status: number }[],
): Promise<RequestLogRow[]> {
  const parameters: SqlValue[] = [environment, position ?? before ?? AFTER_ALL_IDS, from ?? "", start, limit + 1];
  const value = (of: SqlValue) => `$${parameters.push(of)}`;
  const pairs = alternatives.map(({ method, status }) => `(${value(method)}, ${status})`);
  return queries.all<RequestLogRow>(
    `SELECT ${COLUMNS} FROM request_logs
     WHERE environment = $1 AND id < $2 AND id >= $3 AND substr(path, 1, length(CAST($4 AS TEXT))) = $4
       AND (method, status) IN (VALUES ${pairs.join()}) ${keyId === undefined ? "" : `AND key_id = ${value(keyId)}`}
     ORDER BY id DESC LIMIT $5`,
    parameters,
  );
}

function statusesOf(filter: string | undefined): number[] {
  if (filter === undefined) return STATUSES;
  const ofClass = filter.endsWith("xx") ? STATUSES.filter((code) => String(code)[0] === filter[0]) : [];
  return ofClass.length > 0 ? ofClass : [Number.parseInt(filter, 10)];
}

/** Removes rows older than an ID. Returns how many. */
export function deleteRequests(
  tx: Transaction,
  table: "request_details" | "request_logs",
  environment: number,
  idBound: string,
  limit: number,
) {
  const where = "environment = $1 AND id < $2";
  return deleteFirst(tx, { table, key: "environment, id", where }, [environment, idBound], limit);
}
