import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";

/** `service demo`: the main job end to end, with nothing to set up. */
export function register(program: Command, context: Context): void {
  const demo = program
    .command("demo")
    .description("Run the main job end to end: platform, receiver, customer, listen, trigger.")
    .option("--once", "End when every step was seen: exit 0, or 1 when one was not", false)
    .action(async ({ once }: { once: boolean }) => {
      const { runDemo } = await import("./run.ts");
      await runDemo({ once }, context);
    });
  addExamples(demo, ["service demo", "service demo --once --json"]);
}
