import { pino } from "pino";
import { withoutCredentials } from "../../contract/credentials.ts";
import type { Activity } from "./activity.ts";
import type { Log } from "../ports.ts";

/** The lowest level that is logged. `warn` is what an operator should look into, `error` what failed. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** The platform's log, with what it does. */
export interface JsonLog extends Log {
  activity: (activity: Activity) => void;
  stopping: () => void;
}

/**
 * Writes the log as lines of JSON: `level`, `time`, `event`, then what belongs to the event. Each line is handed over
 * whole and at once, so that none is lost where the process ends. What looks like a credential is cut to its prefix,
 * wherever it stands.
 */
export function createJsonLog(level: LogLevel, write: (line: string) => void): JsonLog {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      hooks: { streamWrite: withoutCredentials },
    },
    { write },
  );
  return {
    debug: (fields, message) => logger.debug({ event: "debug", ...fields }, message),
    info: (fields, message) => logger.info({ event: "info", ...fields }, message),
    warn: (fields, message) => logger.warn({ event: "warning", ...fields }, message),
    error: (fields, message) => logger.error({ event: "error", ...fields }, message),
    activity(activity) {
      if (activity.event === "warning") logger.warn(activity);
      else logger.info(activity);
    },
    stopping: () => logger.info({ event: "stopping" }),
  };
}

/** An error without the properties that libraries hang onto theirs: a request's body, for one. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  return { type: name, message, stack, ...(cause === undefined ? {} : { cause: describeError(cause) }) };
}
