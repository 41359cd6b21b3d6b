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
    .description("Manage the sandbox test clock. Advancing it makes retries and expirations happen now.")
    .hook("preAction", () => {
      if (context.globals.live) {
        throw new UsageError("Only the sandbox has a test clock", { hint: "Remove --live." });
      }
    });
  addExamples(clock, ["service clock show", "service clock advance 3d", "service clock reset"]);
  const show = clock
    .command("show")
    .description("Show the sandbox's time and the progress of an advance")
    .action(async () => {
      const client = await context.client();
      const { body } = await client.request<TestClock>({ method: "GET", path: CLOCK_PATH });
      await showClock(body, context, body.target === null ? CLOCK : CLOCK_ADVANCE);
    });
  addExamples(addFields(show, CLOCK), ["service clock show"]);
  registerAdvance(clock, context);
  const cancel = clock
    .command("cancel")
    .description("Stop an advance at the current time")
    .action(async () => {
      const client = await context.client();
      const { body } = await client.request<TestClock>({ method: "POST", path: `${CLOCK_PATH}/cancel` });
      context.output.success(`The test clock is stopped at ${body.now}`);
      await showClock(body, context, body.target === null ? CLOCK : CLOCK_ADVANCE);
    });
  addExamples(addFields(cancel, CLOCK), ["service clock cancel"]);
  const reset = clock
    .command("reset")
    .description("Return to real time; pending deliveries keep their remaining wait")
    .action(async () => {
      const client = await context.client();
      const { body } = await client.request<TestClock>({ method: "POST", path: `${CLOCK_PATH}/reset` });
      context.output.success(`Reset the test clock to real time: ${body.now}`);
      await showClock(body, context);
    });
  addExamples(addFields(reset, CLOCK), ["service clock reset"]);
}
