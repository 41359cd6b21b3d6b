import type { Command } from "commander";
import { addDryRun } from "../../dry-run.ts";

/** `--idempotency-key` and `--dry-run` of every command that creates or changes by POST. */
export function addIdempotencyKey(command: Command): Command {
  return addDryRun(command.option("--idempotency-key <key>", "Make repeating the command safe: one key, one effect"));
}
