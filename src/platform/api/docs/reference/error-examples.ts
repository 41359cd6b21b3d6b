import type { TSchema } from "typebox";
import { type ErrorCode, ERRORS } from "../../../../contract/errors.ts";
import { kindOfId } from "../../../../contract/ids.ts";
import { type Operation, OPERATIONS } from "../../../../contract/operations.ts";
import { kindOfPath, OBJECT_KINDS, resourceOf } from "../../../../contract/resources.ts";
import { type ApiError, invalidFields, missing } from "../../../domain/api-error.ts";
import { finalStatus } from "../../../domain/objects.ts";
import { unknownSnapshot } from "../../../domain/sandbox.ts";
import { emailTaken } from "../../../domain/users.ts";
import { assertScope } from "../../../http/authenticate.ts";
import { exampleProblem } from "../../../http/problem.ts";
import { checkOf, compileQuery } from "../../../http/validate.ts";
import { sandboxOnly } from "../../dispatch.ts";
import { LEAK_REPORT_NAME, notAnArray } from "../../leak-reports.ts";
import { STREAM } from "../../openapi/further-paths.ts";

/** What the examples depend on. */
type DescribedOperation = Pick<Operation, "path" | "scope" | "session" | "summary" | "body" | "query">;

/** Returns an example of an operation's error response, as the platform returns it if it depends on the operation. */
export function errorExample(code: ErrorCode, operationId: string, id: string, baseUrl: string) {
  const operation = [...OPERATIONS, STREAM].find(({ name }) => name === operationId);
  const isReport = operationId === LEAK_REPORT_NAME && code === "invalid_request";
  const thrown = isReport ? notAnArray() : operation && errorOf(code, operation, id);
  return { code, ...ERRORS[code], problem: exampleProblem(code, baseUrl, thrown) };
}

function errorOf(code: ErrorCode, operation: DescribedOperation, id: string): ApiError | undefined {
  const { path, scope, session } = operation;
  const kind = kindOfPath(path);
  switch (code) {
    case "invalid_request":
      return invalidRequest(operation);
    case "insufficient_scope":
      return scope === null ? undefined : thrownBy(() => assertScope({ scopes: [] }, scope));
    case "sandbox_only":
      return sandboxOnly(operation);
    case "not_found": {
      const named = kindOfId(id);
      return named === undefined ? unknownSnapshot(id, []) : thrownBy(() => missing(named, id));
    }
    case "email_taken":
      return session === undefined ? undefined : emailTaken();
    case "invalid_transition": {
      const { to } = resourceOf(kind).actions![path.split("/").at(-1)!]!;
      const [, ...finals] = Object.keys(resourceOf(kind).statuses!);
      return finalStatus(
        OBJECT_KINDS.find((one) => one === kind)!,
        { id, status: finals.find((one) => one !== to)!, to },
      );
    }
    default:
      return undefined;
  }
}

/** Returns the error of an empty body, or of a body or query with a wrong value. */
function invalidRequest({ body, query }: DescribedOperation): ApiError | undefined {
  if (body === undefined)
    return thrownBy(() => compileQuery(query)(query && "limit" in query.properties ? "?limit=0" : "?unknown=true"));
  const { required = [], properties } = body as TSchema & { required?: string[]; properties: object };
  const [first = ""] = Object.keys(properties);
  return invalidFields(checkOf(body)(required.length > 0 ? {} : { [first]: 0.5 }));
}

function thrownBy(run: () => unknown): ApiError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error as ApiError;
  }
}
