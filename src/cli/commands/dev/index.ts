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
      "Run the platform, a listener and your app with the settings in service.yaml. Ctrl-C stops all of them. Exits with the exit code of the app.",
    )
    .action(async () => {
      const { runDev } = await import("./run.ts");
      await runDev(context);
    });
  const init = dev
    .command("init")
    .summary("Create service.yaml")
    .description("Create service.yaml; prompts for settings that no flag sets")
    .option("--port <number>", "Port of the platform that `service dev` starts (default: 4010)", wholeNumber(1, 65_535))
    .addOption(new Option("--url <url>", "URL of an existing platform to use instead").conflicts("port"))
    .option("--forward-to <target>", "Where your app receives events (default: localhost:3000/webhooks)")
    .option("--run <command>", "Command that starts your app, or none (default: from package.json)")
    .option("--write-env <file>", "File for the signing secret and the API key, or none (default: .env.local)")
    .option("--seed <file>", "Fixture to send once per database")
    .option("--yes", "Accept the defaults without prompting")
    .option("--force", "Replace an existing service.yaml")
    .action(async (flags: InitFlags) => {
      const { runInit } = await import("./init.ts");
      await runInit(flags, context);
    });
  dev
    .command("trust")
    .summary("Allow service.yaml to use other machines")
    .description(
      "Allow the service.yaml in this folder to send events to other machines and your API key to its platform. Asks again once it names others.",
    )
    .option("--yes", "Skip the confirmation")
    .action(async (flags: { yes?: true }) => {
      const { runTrust } = await import("./trust.ts");
      await runTrust(flags, context);
    });
  addExamples(init, [
    "service dev init",
    "service dev init --yes --forward-to localhost:3000/webhooks --run 'npm run dev'",
  ]);
  addExamples(dev, ["service dev init   # create service.yaml", "service dev"]);
}
