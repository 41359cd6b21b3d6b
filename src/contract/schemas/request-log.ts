import { type Static, Type } from "typebox";
import { listOf, listQuery, nullable, Timestamp } from "./fields.ts";

export const REQUEST_METHODS = ["GET", "HEAD", "POST", "PATCH", "DELETE"] as const;
export type RequestMethod = (typeof REQUEST_METHODS)[number];

/** One API request, kept 7 days; never a secret or an Authorization header. */
export const RequestLog = Type.Object(
  {
    id: Type.String({ description: "ID of the request, as in the Request-Id header" }),
    object: Type.Literal("request_log"),
    method: Type.Enum([...REQUEST_METHODS]),
    path: Type.String({ description: "Without the query; a part that should be an ID but is not appears as {id}" }),
    status: Type.Integer({ description: "101 for a session of `service listen`" }),
    duration_ms: Type.Number(),
    key: nullable(Type.String({ description: "ID of the API key; null for access tokens" })),
    user: nullable(Type.String({ description: "ID of the access token's user" })),
    idempotency_key: nullable(
      Type.String({ description: "Digest of the Idempotency-Key: equal for requests with the same key" }),
    ),
    error_code: nullable(Type.String()),
    livemode: Type.Boolean(),
    created: Timestamp,
  },
  { $id: "RequestLog" },
);
export type RequestLog = Static<typeof RequestLog>;

export const RequestLogListQuery = listQuery({
  method: Type.Optional(Type.Enum([...REQUEST_METHODS])),
  path: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  key: Type.Optional(Type.String({ format: "api_key-id" })),
});
export type RequestLogListQuery = Static<typeof RequestLogListQuery>;

export const RequestLogList = listOf(RequestLog, "RequestLogList");
