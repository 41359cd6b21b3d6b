import type { Command } from "commander";
import type { TestClock } from "../../../contract/schemas/test-clock.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { registerAdvance } from "./advance.ts";
import { CLOCK, CLOCK_ADVANCE, CLOCK_PATH, showClock } from "./view.ts";

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
  addExamples(clock, ["service clock show", "service clock advance 3d", "service clock reset"]);
  const show = clock
    .command("show")
    .description("Show the sandbox's time, and how far an advance got")
    .action(async () => {
      const client = await context.client();
      const { body } = await client.request<TestClock>({ method: "GET", path: CLOCK_PATH });
      await showClock(body, context, body.target === null ? CLOCK : CLOCK_ADVANCE);
    });
  addExamples(addFields(show, CLOCK), ["service clock show"]);
  registerAdvance(clock, context);
  const cancel = clock
    .command("cancel")
    .description("Stop the sandbox's time where it is, if it is being moved")
    .action(async () => {
      const client = await context.client();
      const { body } = await client.request<TestClock>({ method: "POST", path: `${CLOCK_PATH}/cancel` });
      context.output.success(`The clock is not being moved; in the sandbox it is ${body.now}`);
      await showClock(body, context, body.target === null ? CLOCK : CLOCK_ADVANCE);
    });
  addExamples(addFields(cancel, CLOCK), ["service clock cancel"]);
  const reset = clock
    .command("reset")
    .description("Return to real time; deliveries that are due stay due, others wait as long as before")
    .action(async () => {
      const client = await context.client();
      const { body } = await client.request<TestClock>({ method: "POST", path: `${CLOCK_PATH}/reset` });
      context.output.success(`The sandbox is back in real time: ${body.now}`);
      await showClock(body, context);
    });
  addExamples(addFields(reset, CLOCK), ["service clock reset"]);
}
