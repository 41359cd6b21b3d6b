import { type Command, InvalidArgumentError } from "commander";
import { LIMITS } from "../../../contract/limits.ts";
import { addDryRun } from "../../dry-run.ts";

/** `--idempotency-key` and `--dry-run` of every command that creates or changes by POST. */
export function addIdempotencyKey(command: Command): Command {
  const description = "Idempotency key, so that a retried command takes effect once";
  return addDryRun(command.option("--idempotency-key <key>", description, parseIdempotencyKey));
}

/** Parses the flag's value: 1 to 255 visible ASCII characters, as the header allows. */
export function parseIdempotencyKey(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && text.length <= LIMITS.idempotencyKeyLength) return text;
  throw new InvalidArgumentError(
    `Must be 1 to ${LIMITS.idempotencyKeyLength} printable ASCII characters without spaces.`,
  );
}
