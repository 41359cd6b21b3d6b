import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { FAULT_EFFECTS } from "./fault.ts";
import {
  Created,
  SEARCH_FILTERS,
  idOf,
  listOf,
  listQuery,
  Livemode,
  nullable,
  NULL_IN_EXAMPLES,
  objectOf,
} from "./fields.ts";

export const REQUEST_METHODS = ["GET", "HEAD", "POST", "PATCH", "DELETE"] as const;
export type RequestMethod = (typeof REQUEST_METHODS)[number];

/** An API request, retained for 7 days, without secrets and Authorization headers. */
export const RequestLog = Type.Object(
  {
    id: idOf("request", { description: "ID of the request, as in the Request-Id header" }),
    object: objectOf("request_log"),
    method: Type.Enum([...REQUEST_METHODS], { description: "HTTP method" }),
    path: Type.String({
      examples: ["/v1/customers"],
      description: "Without the query; in place of an ID, what could be a secret appears as {id}",
    }),
    status: Type.Integer({
      examples: [200],
      description:
        "HTTP status: 101 for a session of `service listen`, 503 for a request that the fault `disconnect` cut off",
    }),
    duration_ms: Type.Number({ description: "Duration in milliseconds", examples: [12.3] }),
    key: nullable(
      Type.String({
        description: "ID of the API key; null for access tokens",
        examples: ["key_4Vf8aTqz0bKm2sNw9XyRcd"],
      }),
    ),
    user: nullable(Type.String({ description: "ID of the access token's user" })),
    idempotency_key: nullable(
      Type.String({
        description:
          "Digest of the Idempotency-Key: equal for requests with the same key. The filter `query` also finds the key itself",
      }),
    ),
    error_code: nullable(Type.String({ description: "Code of the error response; null without one" })),
    fault: nullable(
      Type.Object(
        { id: idOf("fault"), effect: Type.Enum([...FAULT_EFFECTS], { description: "Effect of the fault" }) },
        { description: "The fault that it got" },
      ),
      NULL_IN_EXAMPLES,
    ),
    client: nullable(
      Type.String({ description: "`service-cli` for a request of the command `service`; null for all others" }),
    ),
    left_out: Type.Integer({
      description: `Requests of the credential with the same status 403 that followed within the second and are not in the log: it keeps ${LIMITS.loggedRefusalsPerSecond} a second`,
    }),
    livemode: Livemode,
    created: Created,
  },
  { $id: "RequestLog" },
);
export type RequestLog = Static<typeof RequestLog>;

const headersOf = (message: string) =>
  Type.Record(Type.String(), Type.String(), {
    description: `Headers of the ${message}; an ellipsis in place of values that are not stored`,
  });

/** The content of request and response. Secrets, and the values of most headers, are replaced by an ellipsis. */
const EXCHANGE = {
  client_address: nullable(Type.String({ description: "IP address of the client", examples: ["203.0.113.7"] })),
  query: nullable(Type.String({ description: "The query string" })),
  request_headers: nullable(headersOf("request")),
  request_body: nullable(Type.String({ description: "The first 16,384 characters, without secrets" })),
  response_headers: nullable(headersOf("response")),
  response_body: nullable(Type.String({ description: "The first 16,384 characters, without secrets" })),
};
const Exchange = Type.Object(EXCHANGE);
export type RequestExchange = Static<typeof Exchange>;

/** An API request with headers and bodies. Under heavy load these are not stored, and are null. */
export const RequestLogDetail = Type.Object(
  {
    ...RequestLog.properties,
    ...EXCHANGE,
    missing_scope: nullable(
      Type.String({
        description:
          "The scope of the operation, if the credential lacks it: then query and bodies are null. `session` if the operation takes a session only",
      }),
    ),
    events: Type.Array(idOf("event"), { description: "The events that the request caused" }),
  },
  { $id: "RequestLogDetail", description: "A request with its headers and bodies" },
);
export type RequestLogDetail = Static<typeof RequestLogDetail>;

export const RequestLogListQuery = listQuery({
  method: Type.Optional(Type.Enum([...REQUEST_METHODS], { description: "HTTP method" })),
  path: Type.Optional(
    Type.String({
      description: "Path without the query; one that ends in `*` stands for all that begin so",
      examples: ["/v1/customers"],
    }),
  ),
  status: Type.Optional(
    Type.String({ pattern: "^[1-5](\\d\\d|xx)$", description: "A status, or a class such as 4xx", examples: ["4xx"] }),
  ),
  key: Type.Optional(idOf("api_key", { description: "Requests with this API key" })),
  reads: Type.Optional(
    Type.Enum(["failed"], { description: "`failed`: of the GET and HEAD requests, only those that failed" }),
  ),
  ...SEARCH_FILTERS,
});
export type RequestLogListQuery = Static<typeof RequestLogListQuery>;

export const RequestLogList = listOf(RequestLog, "RequestLogList");
