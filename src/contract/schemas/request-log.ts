import { type Static, Type } from "typebox";
import { listOf, listQuery, nullable, Timestamp } from "./fields.ts";

/** One API request, kept 7 days; never a secret or an Authorization header (decisions 3). */
export const RequestLog = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("request_log"),
    method: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    duration_ms: Type.Number(),
    key: nullable(Type.String()),
    idempotency_key: nullable(Type.String()),
    error_code: nullable(Type.String()),
    livemode: Type.Boolean(),
    created: Timestamp,
  },
  { $id: "RequestLog" },
);
export type RequestLog = Static<typeof RequestLog>;

export const RequestLogListQuery = listQuery({
  method: Type.Optional(Type.Enum(["GET", "POST", "PATCH", "DELETE"])),
  path: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  key: Type.Optional(Type.String({ format: "api_key-id" })),
});
export type RequestLogListQuery = Static<typeof RequestLogListQuery>;

export const RequestLogList = listOf(RequestLog, "RequestLogList");
