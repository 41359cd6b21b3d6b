import { type Static, Type } from "typebox";
import { ERRORS, type ErrorCode } from "../errors.ts";
import { SCOPES } from "../scopes.ts";
import { nullable } from "./fields.ts";

export const FieldError = Type.Object(
  {
    pointer: Type.String({ description: "A JSON pointer into the body, or `?name` for a query parameter" }),
    code: Type.String({ description: "Stable code: `required`, `wrong_type`, `unknown_field` …" }),
    detail: Type.String({ description: "What is expected, for people" }),
  },
  { $id: "FieldError", description: "One invalid field of a request" },
);
export type FieldError = Static<typeof FieldError>;

/** An error response (RFC 9457). */
export const Problem = Type.Object(
  {
    type: Type.String({
      format: "uri",
      description: "URL of a page about the code",
      examples: ["https://api.example.com/problems/invalid_request"],
    }),
    title: Type.String({ description: "Summary of the code" }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: "HTTP status of the response" }),
    detail: Type.String({ description: "Explanation for this request, for people" }),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[], { description: "Stable code, for programs" }),
    request_id: Type.String({ format: "request-id", description: "Same as the Request-Id header" }),
    errors: Type.Optional(Type.Array(FieldError, { description: "Invalid fields" })),
    existing: Type.Optional(
      nullable(
        Type.String({
          description: "With `email_taken` and `already_exists`: ID of the object that has the value",
          examples: ["cus_4Vf8aTqz0bKm2sNw9XyRcd"],
        }),
      ),
    ),
    current: Type.Optional(
      Type.String({ description: "With `invalid_transition`: the current status of the resource" }),
    ),
    required_scope: Type.Optional(
      Type.Enum([...SCOPES], { description: "With `insufficient_scope`: the missing scope" }),
    ),
    supported: Type.Optional(
      Type.Array(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }), {
        description: "With `unsupported_version`: the supported dates",
      }),
    ),
  },
  { $id: "Problem", description: "An error response (RFC 9457)" },
);

/** Members beyond the named ones depend on the code. */
export type Problem = Static<typeof Problem> & Record<string, unknown>;
