import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";

/** `service demo`: the main workflow end to end, without setup. */
export function register(program: Command, context: Context): void {
  const demo = program
    .command("demo")
    .description("Run an end-to-end demo: platform, receiver, customer, listen, trigger")
    .option("--once", "Exit after the last step: 0 if every step succeeded, else 1", false)
    .action(async ({ once }: { once: boolean }) => {
      const { runDemo } = await import("./run.ts");
      await runDemo({ once }, context);
    });
  addExamples(demo, ["service demo", "service demo --once --json"]);
}
