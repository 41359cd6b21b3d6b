import { ERROR_GUIDES } from "../../contract/error-guides.ts";
import type { ErrorCode, Problem } from "../../contract/errors.ts";
import { ApiError } from "../domain/api-error.ts";
import { toProblem } from "./problem.ts";

const REQUEST_ID = "req_06Fv3Tt0q1Yd8mWc5KxLrB";

/** A problem document as a refusal with the code would be answered. */
export function exampleProblem(code: ErrorCode, baseUrl: string): Problem {
  const { detail, ...members } = ERROR_GUIDES[code].example;
  return toProblem(new ApiError(code, detail, { members }), REQUEST_ID, baseUrl);
}
