import { type Command, Option } from "commander";
import { wholeNumber } from "../../arguments/values.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import type { InitFlags } from "./init.ts";

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
  const init = dev
    .command("init")
    .summary("Write service.yaml")
    .description("Write service.yaml, and ask for what no flag gives")
    .option("--port <number>", "Port of the platform that `service dev` starts (default: 4010)", wholeNumber(1, 65_535))
    .addOption(new Option("--url <url>", "URL of a platform that runs, to use instead").conflicts("port"))
    .option("--forward-to <target>", "Where your app receives events (default: localhost:3000/webhooks)")
    .option("--run <command>", "Command that starts your app, or none (default: from package.json)")
    .option("--env-file <file>", "File for the signing secret and the API key, or none (default: .env.local)")
    .option("--seed <file>", "Fixture to send once per database")
    .option("--yes", "Use the defaults without asking")
    .option("--force", "Replace an existing service.yaml")
    .action(async (flags: InitFlags) => {
      const { runInit } = await import("./init.ts");
      await runInit(flags, context);
    });
  addExamples(init, [
    "service dev init",
    "service dev init --yes --forward-to localhost:3000/webhooks --run 'npm run dev'",
  ]);
  addExamples(dev, ["service dev init   # write service.yaml", "service dev"]);
}
