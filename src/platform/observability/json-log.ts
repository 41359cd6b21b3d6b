import { pino } from "pino";
import { withoutCredentials } from "../../contract/credentials.ts";
import type { Activity } from "./activity.ts";
import type { Log } from "../ports.ts";

/** The lowest level that is logged. `warn` is what an operator should look into, `error` what failed. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Writes the log as JSON lines: `level`, `time`, `event`, then the event's own fields. Each line is written whole and
 * at once, so that none is lost when the process exits. Anything that looks like a credential is cut to its prefix.
 */
export function createJsonLog(level: LogLevel, write: (line: string) => void) {
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
  const log: Log = {
    debug: (fields, message) => logger.debug({ event: "debug", ...fields }, message),
    info: (fields, message) => logger.info({ event: "info", ...fields }, message),
    warn: (fields, message) => logger.warn({ event: "warning", ...fields }, message),
    error: (fields, message) => logger.error({ event: "error", ...fields }, message),
  };
  return {
    ...log,
    activity: (activity: Activity) => {
      if (activity.event === "warning") logger.warn(activity);
      else logger.info(activity);
    },
    stopping: () => logger.info({ event: "stopping" }),
  };
}

/** Returns an error without the properties that libraries add, such as a request's body. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  return { type: name, message, stack, ...(cause === undefined ? {} : { cause: describeError(cause) }) };
}
