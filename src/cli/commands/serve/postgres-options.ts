import { type Command, InvalidArgumentError } from "commander";

/** How the platform works with a PostgreSQL database. */
export interface PostgresOptions {
  databasePool?: number;
  /** Seconds. */
  databaseTimeout?: number;
  databaseCa?: string;
  masterKeyFile?: string;
}

export function addPostgresOptions(command: Command): Command {
  return command
    .option("--database-pool <number>", "Most connections to PostgreSQL (default: 16)", parseCount)
    .option("--database-timeout <seconds>", "Longest that a statement may take there (default: 5)", parseSeconds)
    .option("--database-ca <file>", "Certificates that PostgreSQL's own may be signed by (default: the system's)")
    .option("--master-key-file <file>", "File of the master key; SERVICE_MASTER_KEY holds the key itself");
}

function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,4}$/.test(text) && count >= 2) return count;
  throw new InvalidArgumentError("Give a number from 2 to 9999.");
}

export function parseSeconds(text: string): number {
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a number of seconds such as 5.");
}
