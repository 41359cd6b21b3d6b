import { type Command, Option } from "commander";
import { repeatable } from "../../arguments/repeated.ts";
import type { Scope } from "../../../contract/scopes.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { duration } from "../../arguments/times.ts";
import { wholeNumber } from "../../arguments/numbers.ts";
import { scopeNames } from "../../arguments/scopes.ts";
import { loginWithApiKey } from "./api-key.ts";

export interface LoginFlags {
  device?: true;
  /** Undefined where the surroundings decide. */
  browser?: boolean;
  authUrl?: string;
  scope?: Scope[];
  /** Seconds. */
  timeout?: number;
  callbackPort?: number;
}

/** `service login`. */
export function register(program: Command, context: Context): void {
  const login = program
    .command("login")
    .description(
      "Sign in through the browser and remember it in a profile. Over SSH, in CI and without a display it shows a code to type on another device instead.",
    )
    .option("--device", "Show a code to type in a browser on any device")
    .option("--browser", "Use a browser on this machine, even where there seems to be none")
    .option("--no-browser", "Print the URL and wait; open nothing")
    .option("--auth-url <url>", "Address of the OAuth server (default: the base URL)")
    .addOption(
      repeatable(
        new Option("--scope <scopes>", "Request only these scopes, separated by commas: customers:read (repeatable)"),
        scopeNames,
      ),
    )
    .option(
      "--timeout <duration>",
      "Give up after this long (default: 5m, with --device until the code ends)",
      duration(1, 3600),
    )
    .option(
      "--callback-port <port>",
      "Take the browser's answer on this port (default: a free one)",
      wholeNumber(1, 65_535),
    )
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
