import { type Command, Option } from "commander";
import { repeatable } from "../../arguments/repeated.ts";
import { duration, scopeNames, wholeNumber } from "../../arguments/values.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { loginWithApiKey } from "./api-key.ts";
import type { LoginFlags } from "./run.ts";

/** `service login`. */
export function register(program: Command, context: Context): void {
  const login = program
    .command("login")
    .description(
      "Sign in through the browser and store the session in a profile. Over SSH, in CI and without a display, shows a code to enter on another device instead.",
    )
    .option("--device", "Show a code to enter in a browser on any device")
    .option("--browser", "Use a browser on this machine, even if none is detected")
    .option("--no-browser", "Print the URL without opening a browser")
    .option("--auth-url <url>", "URL of the OAuth server (default: the base URL)")
    .addOption(
      repeatable(
        new Option("--scope <scopes>", "Scopes to request, separated by commas: customers:read (repeatable)"),
        scopeNames,
      ),
    )
    .option(
      "--timeout <duration>",
      "Maximum time to wait (default: 5m; with --device, until the code expires)",
      duration(1, 3600),
    )
    .option("--callback-port <port>", "Port for the browser's callback (default: a free port)", wholeNumber(1, 65_535))
    .action(async (flags: LoginFlags) => {
      if (context.globals.apiKeyStdin) return await loginWithApiKey(flags, context);
      const { runLogin } = await import("./run.ts");
      return await runLogin(flags, context);
    });
  addExamples(login, [
    "service login",
    "service login --live --profile shop --base-url https://api.example.com",
    "service login --device                        # over SSH",
    "service login --scope customers:read,orders:read",
    "service login --api-key-stdin < key.txt       # without a browser at all",
  ]);
}
