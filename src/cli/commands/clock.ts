import { memberNamesOf } from "../../client/response-check.ts";
import { LIMITS } from "../../contract/limits.ts";
import { pathOf } from "../../contract/resources.ts";
import type { TestClock, TestClockAdvance } from "../../contract/schemas/sandbox.ts";
import { counted } from "../../contract/words.ts";
import { duration } from "../arguments/values.ts";
import type { CommandDefinition } from "../command.ts";
import type { Context } from "../context.ts";
import { formatSpan } from "../terminal/time.ts";
import type { Column, ResourceView } from "../terminal/view.ts";
import { type Idempotent, IDEMPOTENCY_KEY } from "../resource/verbs.ts";

const FAILURES = "  service deliveries list --status retrying\n  service deliveries list --status failed";
const MAX_SECONDS = LIMITS.replaySeconds * 12;
const POLL_MILLISECONDS = 500;
/** Time limit for the platform to stop the clock after an interrupt. */
const CANCEL_MILLISECONDS = 5000;
const CLOCK_PATH = pathOf("test_clock");

const NOW: Column<TestClock> = { label: "Now", text: ({ now }) => now };
const AHEAD: Column<TestClock> = { label: "Offset seconds", text: ({ offset_seconds: offset }) => String(offset) };
const AHEAD_IN_WORDS: Column<TestClock> = {
  label: "Offset",
  text: ({ offset_seconds: offset }) => (offset === 0 ? "none: real time" : `${formatSpan(offset)} ahead of real time`),
};

const CLOCK: ResourceView<TestClock> = {
  noun: "test clock",
  fields: memberNamesOf("TestClock"),
  details: [NOW, AHEAD],
};

/** Includes the attempts of an advance. */
const CLOCK_ADVANCE: ResourceView<TestClock> = {
  ...CLOCK,
  details: [
    NOW,
    AHEAD,
    { label: "Status", text: ({ status }) => status },
    { label: "Target", text: ({ target }) => target ?? "" },
    { label: "Attempts", text: ({ attempts }) => String(attempts) },
    {
      label: "Succeeded",
      text: ({ succeeded }) => String(succeeded),
      styleOf: (text) => (text === "0" ? undefined : "good"),
    },
    { label: "Failed", text: ({ failed }) => String(failed), styleOf: (text) => (text === "0" ? undefined : "bad") },
    { label: "Remaining", text: ({ remaining }) => String(remaining) },
  ],
};

/** `service clock`. */
export const command: CommandDefinition = {
  name: "clock",
  about:
    "Manage the sandbox test clock. Advancing it makes retries and expirations happen now. It moves forward only: real time returns with a reset of the sandbox.",
  examples: ["service clock show", "service clock advance 3d # Through all retries"],
  sandboxOnly: "Only the sandbox has a test clock",
  commands: [
    {
      name: "show",
      about: "Show the sandbox's time and the progress of an advance",
      fields: CLOCK,
      examples: ["service clock show"],
      async run(context: Context) {
        const body = await context.request<TestClock>({ method: "GET", path: CLOCK_PATH });
        await showClock(body, context, body.status === "advancing" ? CLOCK_ADVANCE : CLOCK);
      },
    },
    {
      name: "advance",
      about: "Advance the test clock; deliveries that fall due are attempted at their own times",
      args: [
        {
          arg: "<duration>",
          about: "Duration to advance by, such as 30s, 10m, 6h or 3d",
          parse: duration(1, MAX_SECONDS),
        },
      ],
      options: [IDEMPOTENCY_KEY],
      dryRun: true,
      fields: CLOCK_ADVANCE,
      examples: ["service clock advance 30s", "service clock advance 3d # Through all retries"],
      run: runAdvance,
    },
    {
      name: "cancel",
      about: "Stop an advance at the current time",
      fields: CLOCK,
      examples: ["service clock cancel"],
      async run(context: Context) {
        const body = await context.request<TestClock>({ method: "POST", path: `${CLOCK_PATH}/cancel` });
        context.output.success(`The test clock is stopped at ${body.now}`);
        await showClock(body, context, body.target === null ? CLOCK : CLOCK_ADVANCE);
      },
    },
  ],
};

async function runAdvance(context: Context, seconds: number, { idempotencyKey }: Idempotent): Promise<void> {
  const { output } = context;
  const span = formatSpan(seconds);
  const move = () =>
    moveClock(context, seconds, idempotencyKey).catch(async (error: unknown) => {
      if (context.signal.aborted) await cancelAdvance(context);
      throw error;
    });
  const body = await output.spinner.during(`Advancing the test clock by ${span}`, move);
  if (body.status === "canceled") output.warn(`The test clock stopped before its target; ${formatAttempts(body)}`);
  else output.success(`Advanced the test clock by ${span}; ${formatAttempts(body)}`);
  // For a person, the note has said that nothing was due.
  const isShort = output.terminal && body.status !== "canceled" && body.attempts === 0;
  await showClock(body, context, isShort ? CLOCK : CLOCK_ADVANCE);
  if (body.failed > 0) output.note(`\nList the deliveries that are retried or have failed:\n${FAILURES}`);
}

const QUIET_MILLISECONDS = 10_000;

/** Resolves once the advance is over or was canceled. */
async function moveClock(context: Context, seconds: number, idempotencyKey: string | undefined): Promise<TestClock> {
  const body = { seconds } satisfies TestClockAdvance;
  const path = `${CLOCK_PATH}/advance`;
  const { output, stderr } = context;
  let saidAt = context.now();
  let clock = await context.request<TestClock>({ method: "POST", path, body, idempotencyKey });
  while (clock.status === "advancing") {
    const { now, target, attempts, remaining } = clock;
    const left = counted(remaining, "delivery", "deliveries");
    const progress = `${now} of ${target}: ${counted(attempts, "attempt")}, ${left} remaining`;
    output.spinner.update(progress);
    // A log shows that a long advance is not stuck.
    if (!stderr.isTTY && context.now() - saidAt >= QUIET_MILLISECONDS) {
      output.notice(progress);
      saidAt = context.now();
    }
    await context.sleep(POLL_MILLISECONDS);
    clock = await context.request<TestClock>({ method: "GET", path: CLOCK_PATH });
  }
  return clock;
}

async function cancelAdvance(context: Context): Promise<void> {
  const { output } = context;
  try {
    const bounded = context.withSignal(AbortSignal.timeout(CANCEL_MILLISECONDS));
    const clock = await bounded.request<TestClock>({ method: "POST", path: `${CLOCK_PATH}/cancel` });
    output.note(`Stopped the test clock at ${clock.now}; ${formatAttempts(clock)}`);
  } catch {
    output.warn("Could not stop the test clock; it is still advancing. To stop it: service clock cancel");
  }
}

function formatAttempts({ attempts, succeeded, failed }: TestClock): string {
  if (attempts === 0) return "no deliveries were due";
  return `${counted(attempts, "attempt")}: ${succeeded} succeeded, ${failed} failed`;
}

/** A clock has no ID: `--quiet` prints its time. */
async function showClock(clock: TestClock, { output }: Context, view = CLOCK): Promise<void> {
  if (output.quiet && !output.json) return output.line(clock.now);
  const details = (view.details ?? []).map((column) => (column === AHEAD && output.terminal ? AHEAD_IN_WORDS : column));
  await output.object(clock, { ...view, details });
}
