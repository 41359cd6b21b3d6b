import type { Command } from "commander";
import { LIMITS } from "../../../contract/limits.ts";
import type { TestClock, TestClockAdvance } from "../../../contract/schemas/test-clock.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { duration } from "../../arguments/times.ts";
import { formatSpan } from "../../terminal/time.ts";
import { addIdempotencyKey } from "../resource/idempotency-key.ts";
import { CLOCK, CLOCK_PATH, showClock } from "./view.ts";

const FAILURES = "  service deliveries list --status pending\n  service deliveries list --status failed";
const MOST_SECONDS = LIMITS.replaySeconds * 12;
/** The platform answers once all has been attempted, and a silent receiver takes 10 s each time. */
export const ADVANCE_LIMIT_SECONDS = 15 * 60;

export function registerAdvance(clock: Command, context: Context): void {
  const advance = clock
    .command("advance")
    .description("Move the sandbox's time on; what falls due on the way is attempted, each at its own time")
    .argument("<duration>", "How far: 30s, 10m, 6h, 3d", duration(1, MOST_SECONDS));
  addIdempotencyKey(advance).action(async (seconds: number, { idempotencyKey }: { idempotencyKey?: string }) => {
    const { output } = context;
    const client = await context.client();
    const advancing = client.request<TestClock>({
      method: "POST",
      path: `${CLOCK_PATH}/advance`,
      body: { seconds } satisfies TestClockAdvance,
      timeLimit: ADVANCE_LIMIT_SECONDS,
      idempotencyKey,
    });
    output.spinner.say(`Moving the sandbox's time by ${formatSpan(seconds)}; deliveries are attempted on the way`);
    const { body } = await advancing;
    output.success(`Moved the sandbox's time by ${formatSpan(seconds)}; ${attemptsInWords(body)}`);
    await showClock(body, context);
    if ((body.failed ?? 0) > 0)
      output.note(`\nSee which deliveries wait for a retry, and which have failed:\n${FAILURES}`);
  });
  addExamples(addFields(advance, CLOCK), ["service clock advance 30s", "service clock advance 3d"]);
}

function attemptsInWords({ attempted = 0, succeeded = 0, failed = 0 }: TestClock): string {
  if (attempted === 0) return "nothing fell due";
  return `${attempted} ${attempted === 1 ? "attempt" : "attempts"}: ${succeeded} succeeded, ${failed} failed`;
}
