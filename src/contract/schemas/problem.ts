import { type Static, Type } from "typebox";
import { ERRORS, type ErrorCode } from "../errors.ts";
import { SCOPES } from "../scopes.ts";
import { nullable } from "./fields.ts";

export const FieldError = Type.Object(
  {
    pointer: Type.String({ description: "A JSON pointer into the body, or `?name` for a query parameter" }),
    code: Type.String({ description: "What is wrong, stable: `required`, `wrong_type`, `unknown_field` …" }),
    detail: Type.String({ description: "What the field should be, for people" }),
  },
  { $id: "FieldError", description: "One invalid field of a request" },
);
export type FieldError = Static<typeof FieldError>;

/** An error response (RFC 9457). */
export const Problem = Type.Object(
  {
    type: Type.String({ format: "uri", description: "A page that explains the code" }),
    title: Type.String({ description: "What the code means, in one line" }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: "The reply's status, repeated" }),
    detail: Type.String({ description: "What went wrong with this request, for people" }),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[], { description: "Stable, for programs" }),
    request_id: Type.String({ format: "request-id", description: "The same as in the Request-Id header" }),
    errors: Type.Optional(Type.Array(FieldError, { description: "Each invalid field" })),
    existing: Type.Optional(
      nullable(Type.String({ format: "customer-id", description: "With `email_taken`: who has the address" })),
    ),
    current: Type.Optional(Type.String({ description: "With `invalid_transition`: the status that the resource has" })),
    required_scope: Type.Optional(
      Type.Enum([...SCOPES], { description: "With `insufficient_scope`: what the credential lacks" }),
    ),
    supported: Type.Optional(
      Type.Array(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }), {
        description: "With `unsupported_version`: the dates that may be named",
      }),
    ),
  },
  { $id: "Problem", description: "An error reply (RFC 9457)" },
);

/** Members beyond the named ones depend on the code. */
export type Problem = Static<typeof Problem> & Record<string, unknown>;
