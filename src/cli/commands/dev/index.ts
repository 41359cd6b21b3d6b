import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";

/** `service dev`: platform, listener, env file, seed data and app in one terminal. */
export function register(program: Command, context: Context): void {
  const dev = program
    .command("dev")
    .description(
      "Run platform, listener and app together, as service.yaml in this folder says. Ctrl-C stops all of them; the exit code is the app's.",
    )
    .action(async () => {
      const { runDev } = await import("./run.ts");
      await runDev(context);
    });
  addExamples(dev, ["service dev init   # write service.yaml", "service dev"]);
}
