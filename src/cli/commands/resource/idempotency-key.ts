import type { Command } from "commander";

/** `--idempotency-key` of every command that creates or changes by POST. */
export function addIdempotencyKey(command: Command): Command {
  return command.option("--idempotency-key <key>", "Make repeating the command safe: one key, one effect");
}
