import type { TestClock } from "../../../contract/schemas/test-clock.ts";
import type { Context } from "../../context.ts";
import { formatSpan } from "../../terminal/time.ts";
import type { Column, ResourceView } from "../../terminal/view.ts";

export const CLOCK_PATH = "/v1/test_clock";

const NOW: Column<TestClock> = { label: "Now", text: ({ now }) => now };
const AHEAD: Column<TestClock> = {
  label: "Offset seconds",
  text: ({ offset_seconds: offset }, { terminal }) => {
    if (!terminal) return String(offset);
    return offset === 0 ? "0 (real time)" : `${offset} (${formatSpan(offset)} ahead of real time)`;
  },
};

export const CLOCK: ResourceView<TestClock> = {
  noun: "test clock",
  plural: "test clocks",
  fields: ["object", "now", "offset_seconds", "status", "target", "attempts", "succeeded", "failed", "remaining"],
  columns: [],
  details: [NOW, AHEAD],
};

/** With the attempts of an advance. */
export const CLOCK_ADVANCE: ResourceView<TestClock> = {
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
      style: (text, styles) => (text === "0" ? text : styles.good(text)),
    },
    {
      label: "Failed",
      text: ({ failed }) => String(failed),
      style: (text, styles) => (text === "0" ? text : styles.bad(text)),
    },
    { label: "Remaining", text: ({ remaining }) => String(remaining) },
  ],
};

/** A clock has no ID: `--quiet` prints its time. */
export async function showClock(clock: TestClock, { output }: Context, view = CLOCK): Promise<void> {
  if (output.quiet && !output.json) return output.line(clock.now);
  await output.object(clock, view);
}
