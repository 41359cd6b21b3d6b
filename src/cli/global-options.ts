import { type Command, InvalidArgumentError, Option } from "commander";
import { notEmpty } from "./arguments/values.ts";

/** Flags of every command, before or after its name. */
export interface GlobalOptions {
  json: boolean;
  fields: readonly string[] | undefined;
  jq: string | undefined;
  /** `--jq` of a command that works on what the expression selects. */
  selection?: string | undefined;
  profile: string | undefined;
  apiKeyStdin: boolean;
  baseUrl: string | undefined;
  live: boolean;
  color: boolean;
  input: boolean;
  debug: boolean;
  quiet: boolean;
  insecure: boolean;
  dryRun: boolean;
}

/** Declares the global flags on the root command, whose `opts` returns GlobalOptions then. */
export function addGlobalOptions<Root extends Command>(command: Root): Root {
  return command
    .addOption(new Option("--json", "Print JSON: the API's own objects").default(false))
    .addOption(new Option("--fields <names>", "Fields to print, separated by commas").argParser(parseFields))
    .addOption(new Option("--jq <expression>", "jq expression to filter the JSON with (implies --json)"))
    .addOption(new Option("--profile <name>", "Profile to use").argParser(notEmpty))
    .addOption(new Option("--api-key-stdin", "Read the API key from stdin").default(false))
    .addOption(new Option("--base-url <url>", "URL of the platform's API").argParser(parseBaseUrlFlag))
    .addOption(new Option("--live", "Use live mode instead of the sandbox").default(false))
    .addOption(new Option("--no-color", "Disable color"))
    .addOption(
      new Option("--no-input", "Disable prompts: where one would appear, fail with the name of the required flag"),
    )
    .addOption(new Option("--debug", "Show requests and stack traces on stderr").default(false))
    .addOption(
      new Option("-q, --quiet", "Print IDs only, without notes; with --json, only omit the notes").default(false),
    )
    .addOption(new Option("--insecure", "Allow plain http to hosts other than this machine").default(false))
    .addOption(dryRunOption().hideHelp().default(false));
}

/** `-n, --dry-run` at the root, so that it may follow any command. Commands without dry run reject it. */
export function dryRunOption(about = "Print the requests without sending them"): Option {
  return new Option("-n, --dry-run", about);
}

function parseFields(text: string): string[] {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0) throw new InvalidArgumentError("Must be one or more field names, separated by commas.");
  return names;
}

/** Parses the flag's value. An address of this machine may omit http://. */
function parseBaseUrlFlag(text: string): string {
  return notEmpty(text).replace(/^(?=(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|$))/i, "http://");
}
