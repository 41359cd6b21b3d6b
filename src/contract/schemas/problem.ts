import { type Static, Type } from "typebox";
import { ERRORS, type ErrorCode } from "../errors.ts";
import { SCOPES } from "../scopes.ts";
import { formatted, named, nullable, oneOf, several, text } from "./fields.ts";

export const FieldError = named("FieldError", "One invalid field of a request", {
  pointer: text("A JSON pointer into the body, or `?name` for a query parameter"),
  code: text("Stable code: `required`, `wrong_type`, `unknown_field` …"),
  detail: text("What is expected, for people"),
});
export type FieldError = Static<typeof FieldError>;

export const Problem = named("Problem", "An error response (RFC 9457)", {
  type: formatted("uri", "URL of a page about the code", {
    examples: ["https://api.example.com/problems/invalid_request"],
  }),
  title: text("Summary of the code"),
  status: Type.Integer({ minimum: 400, maximum: 599, description: "HTTP status of the response" }),
  detail: text("Explanation for this request, for people"),
  code: oneOf(Object.keys(ERRORS) as ErrorCode[], "Stable code, for programs"),
  request_id: formatted("request-id", "Same as the Request-Id header"),
  errors: Type.Optional(several(FieldError, "Invalid fields")),
  existing: Type.Optional(
    nullable(
      text(
        "With `email_taken` and `already_exists`: ID of the object that has the value",
        "cus_4Vf8aTqz0bKm2sNw9XyRcd",
      ),
    ),
  ),
  current: Type.Optional(text("With `invalid_transition`: the current status of the resource")),
  required_scope: Type.Optional(oneOf(SCOPES, "With `insufficient_scope`: the missing scope")),
  supported: Type.Optional(
    several(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }), "With `unsupported_version`: the supported dates"),
  ),
});

/** Members beyond the named ones depend on the code. */
export type Problem = Static<typeof Problem> & Record<string, unknown>;
