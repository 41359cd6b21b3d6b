import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { registerAdvance } from "./advance.ts";
import { CLOCK, CLOCK_PATH, showClock } from "./view.ts";
import type { TestClock } from "../../../contract/schemas/test-clock.ts";

/** `service clock`. */
export function register(program: Command, context: Context): void {
  const clock = program
    .command("clock")
    .description("Move the sandbox's time, so that retries and expiries of days happen now.")
    .hook("preAction", () => {
      if (context.globals.live) {
        throw new UsageError("Only the sandbox has a test clock", { hint: "Leave out --live." });
      }
    });
  addExamples(clock, ["service clock show", "service clock advance 3d"]);
  const show = clock
    .command("show")
    .description("Show the sandbox's time")
    .action(async () => {
      const client = await context.client();
      const { body } = await client.request<TestClock>({ method: "GET", path: CLOCK_PATH });
      await showClock(body, context);
    });
  addExamples(addFields(show, CLOCK), ["service clock show"]);
  registerAdvance(clock, context);
}
