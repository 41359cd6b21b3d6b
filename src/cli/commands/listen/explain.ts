import type { ListenError } from "../../../relay/disconnection.ts";
import { EXIT_CODES, type ExitCode, UserError } from "../../errors.ts";

const EXIT_BY_CODE: Partial<Record<ListenError["code"], ExitCode>> = {
  unauthorized: EXIT_CODES.notSignedIn,
  forbidden: EXIT_CODES.notAllowed,
  unreachable: EXIT_CODES.unreachable,
  downtime: EXIT_CODES.unreachable,
};

/** Why listening ended, with what to do about it. */
export function explainListenError(error: ListenError): UserError {
  const hints: Partial<Record<ListenError["code"], string>> = {
    unauthorized: "Sign in again: service login",
    unreachable: "Is the platform running? Start it with `service serve`, or pass --wait.",
    downtime: "Is the platform running? To start it: service serve",
  };
  const { problem } = error;
  const message = problem?.detail ?? error.message;
  return new UserError(message.charAt(0).toUpperCase() + message.slice(1), {
    code: problem?.code ?? error.code,
    exitCode: EXIT_BY_CODE[error.code] ?? EXIT_CODES.failed,
    hint: hints[error.code] ?? (problem === undefined ? undefined : `Request ID: ${problem.request_id}`),
    cause: error,
  });
}
