import type { FieldError, Problem } from "../contract/errors.ts";

/**
 * The error that a reply describes. Whatever answers in the platform's place may send JSON of any shape, so that only
 * members of the right type are believed; the status is the reply's own.
 */
export function problemOf(status: number, body: unknown, requestId: string): Problem {
  const sent = isRecord(body) ? body : {};
  const { errors } = sent;
  return {
    ...sent,
    type: textOf(sent["type"]) ?? "about:blank",
    title: textOf(sent["title"]) ?? `HTTP ${status}`,
    detail: textOf(sent["detail"]) ?? textOf(sent["title"]) ?? `The platform answered ${status} without saying why`,
    code: (textOf(sent["code"]) ?? "internal_error") as Problem["code"],
    request_id: textOf(sent["request_id"]) ?? requestId,
    status,
    ...(errors === undefined ? {} : { errors: Array.isArray(errors) ? errors.filter(isFieldError) : [] }),
  };
}

function isFieldError(value: unknown): value is FieldError {
  return (
    isRecord(value) && [value["pointer"], value["code"], value["detail"]].every((text) => typeof text === "string")
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
