import { InvalidArgumentError } from "commander";
import { secondsOf } from "../../contract/durations.ts";
import { wholeNumber } from "../arguments/values.ts";
import { type Flag, flag } from "../command.ts";

/** How the platform uses a PostgreSQL database. */
export interface PostgresOptions {
  databasePool?: number;
  /** Maximum duration of a statement, in seconds. */
  databaseTimeout?: number;
  databaseCa?: string;
  masterKeyFile?: string;
}

export const POSTGRES_FLAGS: readonly Flag[] = [
  flag("--database-pool <number>", "Maximum number of PostgreSQL connections (default: 16)", {
    parse: wholeNumber(2, 9999),
    hidden: true,
  }),
  flag("--database-timeout <seconds>", "PostgreSQL statement timeout (default: 5)", {
    parse: parseSeconds,
    hidden: true,
  }),
  flag("--database-ca <file>", "CA certificates to verify PostgreSQL's certificate with (default: those of Node.js)"),
  flag("--master-key-file <file>", "File that contains the master key; SERVICE_MASTER_KEY contains the key itself"),
];

export function parseSeconds(text: string): number {
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text)) return Number(text);
  const seconds = secondsOf(text) ?? Infinity;
  if (seconds < 10_000) return seconds;
  throw new InvalidArgumentError("Must be a number of seconds or a duration, such as 5 or 5s.");
}
