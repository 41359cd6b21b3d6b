import { type Static, Type } from "typebox";
import { listOf, listQuery, nullable, Timestamp } from "./fields.ts";

export const REQUEST_METHODS = ["GET", "HEAD", "POST", "PATCH", "DELETE"] as const;
export type RequestMethod = (typeof REQUEST_METHODS)[number];

/** One API request, kept 7 days; never a secret or an Authorization header. */
export const RequestLog = Type.Object(
  {
    id: Type.String({ description: "The request's own id, as in the Request-Id header" }),
    object: Type.Literal("request_log"),
    method: Type.Enum([...REQUEST_METHODS]),
    path: Type.String({ description: "Without its query; a part that should be an id and is none reads {id}" }),
    status: Type.Integer({ description: "101 where a session of `service listen` began" }),
    duration_ms: Type.Number(),
    key: nullable(Type.String({ description: "Id of the API key; null where an access token was sent" })),
    user: nullable(Type.String({ description: "Id of the user for whom an access token stands" })),
    idempotency_key: nullable(
      Type.String({ description: "A digest of the Idempotency-Key: requests with the same key have the same one" }),
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
