import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { FAULT_EFFECTS } from "./fault.ts";
import {
  SEARCH_FILTERS,
  Created,
  decimal,
  group,
  idOf,
  integer,
  listOf,
  listQuery,
  Livemode,
  named,
  nullable,
  nullInExamples,
  objectOf,
  oneOf,
  several,
  text,
} from "./fields.ts";

export const REQUEST_METHODS = ["GET", "HEAD", "POST", "PATCH", "DELETE"] as const;
export type RequestMethod = (typeof REQUEST_METHODS)[number];

/** An API request, retained for 7 days, without secrets and Authorization headers. */
export const RequestLog = Type.Object(
  {
    id: idOf("request", "ID of the request, as in the Request-Id header"),
    object: objectOf("request_log"),
    method: oneOf(REQUEST_METHODS, "HTTP method"),
    path: text("Without the query; in place of an ID, what could be a secret appears as {id}", "/v1/customers"),
    status: integer(
      "HTTP status: 101 for a session of `service listen`, 503 for a request that the fault `disconnect` cut off",
      200,
    ),
    duration_ms: decimal("Duration in milliseconds", 12.3),
    key: nullable(text("ID of the API key; null for access tokens", "key_4Vf8aTqz0bKm2sNw9XyRcd")),
    user: nullable(text("ID of the access token's user")),
    idempotency_key: nullable(
      text(
        "Digest of the Idempotency-Key: equal for requests with the same key. The filter `query` also finds the key itself",
      ),
    ),
    error_code: nullable(text("Code of the error response; null without one")),
    fault: nullInExamples(
      group("The fault that it got", { id: idOf("fault"), effect: oneOf(FAULT_EFFECTS, "Effect of the fault") }),
    ),
    client: nullable(text("`service-cli` for a request of the command `service`; null for all others")),
    left_out: integer(
      `Requests of the credential with the same status 403 that followed within the second and are not in the log: it keeps ${LIMITS.loggedRefusalsPerSecond} a second`,
    ),
    livemode: Livemode,
    created: Created,
  },
  { $id: "RequestLog" },
);
export type RequestLog = Static<typeof RequestLog>;

const headersOf = (message: string, example: Record<string, string>) =>
  Type.Record(Type.String(), Type.String(), {
    examples: [example],
    description: `Headers of the ${message}; an ellipsis in place of values that are not stored`,
  });

/** The content of request and response. Secrets, and the values of most headers, are replaced by an ellipsis. */
const EXCHANGE = {
  client_address: nullable(text("IP address of the client", "203.0.113.7")),
  query: nullable(text("The query string")),
  request_headers: nullable(headersOf("request", { authorization: "…", host: "…" })),
  request_body: nullable(text("The first 16,384 characters, without secrets")),
  response_headers: nullable(
    headersOf("response", {
      "request-id": "req_4Vf8aTqz0bKm2sNw9XyRcd",
      "content-type": "application/json; charset=utf-8",
      "cache-control": "…",
    }),
  ),
  response_body: nullable(
    text(
      "The first 16,384 characters, without secrets",
      '{"object":"list","data":[],"has_more":false,"next_cursor":null}',
    ),
  ),
};
const Exchange = Type.Object(EXCHANGE);
export type RequestExchange = Static<typeof Exchange>;

/** An API request with headers and bodies. Under heavy load these are not stored, and are null. */
export const RequestLogDetail = named("RequestLogDetail", "A request with its headers and bodies", {
  ...RequestLog.properties,
  ...EXCHANGE,
  missing_scope: nullable(
    text(
      "The scope of the operation, if the credential lacks it: then query and bodies are null. `session` if the operation takes a session only",
    ),
  ),
  events: several(idOf("event"), "The events that the request caused"),
});
export type RequestLogDetail = Static<typeof RequestLogDetail>;

export const RequestLogListQuery = listQuery({
  method: Type.Optional(oneOf(REQUEST_METHODS, "HTTP method")),
  path: Type.Optional(
    text("Path without the query; one that ends in `*` stands for all that begin so", "/v1/customers"),
  ),
  status: Type.Optional(
    Type.String({ pattern: "^[1-5](\\d\\d|xx)$", description: "A status, or a class such as 4xx", examples: ["4xx"] }),
  ),
  key: Type.Optional(idOf("api_key", "Requests with this API key")),
  reads: Type.Optional(oneOf(["failed"], "`failed`: of the GET and HEAD requests, only those that failed")),
  ...SEARCH_FILTERS,
});
export type RequestLogListQuery = Static<typeof RequestLogListQuery>;

export const RequestLogList = listOf(RequestLog, "RequestLogList");
