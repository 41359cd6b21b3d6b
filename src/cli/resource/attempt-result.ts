import { isSuccess } from "../../contract/is-success.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Attempt } from "../../contract/schemas/delivery.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { shortError } from "../../explain/attempts.ts";
import { typed } from "../../explain/resend.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { formatDuration } from "../terminal/time.ts";

const MAX_SECONDS = LIMITS.deliverySeconds + 5;
const POLL_MS = 100;
const MAX_EXCERPT = 200;

/** Polls until the result of an attempt is known. Resolves with undefined if it is not in time. */
export function awaitAttempt<Result>(
  read: () => Promise<Result | undefined>,
  context: Context,
): Promise<Result | undefined> {
  const deadline = context.now() + MAX_SECONDS * 1000;
  return context.output.spinner.during("Waiting for the response", async () => {
    while (context.now() < deadline) {
      const found = await read();
      if (found !== undefined) return found;
      await context.sleep(POLL_MS);
    }
    return undefined;
  });
}

/**
 * Prints the response to an attempt, with the ID of the event or delivery that was sent, and where a listener forwarded
 * it to. Throws UserError if there is none, or if it is not 2xx.
 */
export function showAttempt(
  attempt: Attempt | undefined,
  { id, type, target }: { id: string; type: string; target?: string | null },
  context: Context,
) {
  const { output } = context;
  if (attempt === undefined) {
    throw new UserError(`${type} was not delivered within ${MAX_SECONDS} s`, {
      hint: shellCommand`For the reason: service why ${id}`,
      code: "delivery_pending",
    });
  }
  const { status_code: status, error, duration_ms: took, response_excerpt: excerpt } = attempt;
  const to = target == null ? "" : ` (${typed(target)})`;
  const result = `${status ?? `No response (${shortError(error)})`} in ${formatDuration(took)}${to}`;
  if (isSuccess(status ?? undefined)) {
    output.success(`${result}: ${type} ${id}`);
    if (!output.terminal && !output.json && !output.quiet && !output.chosen)
      output.line([id, String(status), String(took)].join("\t"));
    return;
  }
  const [first = ""] = (error?.replace(/^[a-z_]+: /, "") ?? excerpt ?? "").trim().split(/\r?\n/, 1);
  throw new UserError(`${result}${first === "" ? "" : `: ${first.slice(0, MAX_EXCERPT)}`}`, {
    hint: shellCommand`For the likely cause: service why ${id}`,
    code: "delivery_failed",
  });
}
