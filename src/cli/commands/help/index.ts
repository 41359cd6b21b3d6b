import type { Command } from "commander";
import { LIMITS } from "../../../contract/limits.ts";
import { didYouMean, nearest } from "../../../contract/nearest.ts";
import { commandNamed, commandNames } from "../../arguments/mistakes.ts";
import { type CommandDefinition, type CommandEntry, flag, pathOf, type Suggestion } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { PROJECT_SCHEMA } from "../../project/schema.ts";
import { HELP_TOPICS, rareFlags, textLines } from "../../help-layout.ts";

/** A line for each setting of service.yaml. */
const PROJECT_SETTINGS = Object.entries(PROJECT_SCHEMA.properties!).flatMap(([name, { properties, ...schema }]) =>
  Object.entries(properties ?? { "": schema }).map(([key, { description, default: value }]) => {
    const standard = value === undefined || value === false ? "" : ` (default: ${value})`;
    return `${[name, key].filter(Boolean).join(".")}  ${description}${standard}`;
  }),
);

/**
 * Texts of `service help <topic>`, and the guide with more. Two spaces, or the beginning of an indented line,
 * separate a term from its description.
 */
export const TOPICS: Readonly<Record<string, { guide: string; text: string }>> = {
  environment: {
    guide: "authentication",
    text: `
Precedence of settings: flag, environment variable, service.yaml, profile,
default. To see the source of each setting: service config list

SERVICE_API_KEY  API key to use instead of the profile's credential
SERVICE_BASE_URL  URL of the platform's API (default: http://127.0.0.1:4010)
SERVICE_AUTH_URL  URL of the OAuth server (default: the base URL)
SERVICE_PROFILE  Profile to use (default: the current one)
SERVICE_CONFIG_DIR  Folder of settings (default: ~/.config/service)
SERVICE_WEBHOOK_SECRET  Signing secret for \`webhooks\` and \`listen\`
SERVICE_NO_INPUT  Disables prompts: a command names the flag to pass instead
SERVICE_NO_UPDATE_NOTIFIER  Disables the daily update check
SERVICE_REGISTRY_URL  Registry that it asks (default: https://registry.npmjs.org)
SERVICE_DEBUG  Prints requests and stack traces; same as --debug

\`serve\` and \`db\`:
SERVICE_DATABASE  SQLite file or PostgreSQL URL
SERVICE_MASTER_KEY  Key that encrypts the stored secrets

Conventions of other programs:
CI  Disables animations, prompts, the browser and update notices
NO_COLOR  Disables color; takes precedence over FORCE_COLOR
FORCE_COLOR  Enables color in a pipe, of text; its tables stay plain
TERM=dumb  Disables color and animations
HTTPS_PROXY, HTTP_PROXY, NO_PROXY  Proxy, and hosts to reach without it
NODE_EXTRA_CA_CERTS  File of additional certificate authorities to trust
NO_UPDATE_NOTIFIER, DO_NOT_TRACK  Disable the daily update check

Without a terminal there are no prompts: required flags are errors, and --yes is
required by db restore and, in live mode, to delete, revoke or resend in bulk.
`,
  },
  authentication: {
    guide: "authentication",
    text: `
A profile has the URL of one platform and a credential for each environment: the
sandbox, which commands use by default, and live mode (--live).

  service login  Sign in through a browser, to the sandbox or live mode
  service login --live  Sign in to live mode, without the question
  service login --profile shop --base-url https://api.example.com
      Store another platform or account in a profile
  service login --api-key-stdin < key.txt
      Store an API key, which is for one environment
  service orders list --profile shop  Use a profile for one command
  service profiles use shop  Use it from now on
  service whoami  Show the settings in use and their sources
  service logout  Revoke the session and delete the credential

In CI, set SERVICE_API_KEY to a key with only the scopes it needs:
  service keys create --name CI --scope orders:write
`,
  },
  "project-file": {
    guide: "dev",
    text: `
service.yaml configures \`service dev\`, and other commands in its folder. A flag
takes precedence. To create it: service dev init

${PROJECT_SETTINGS.join("\n")}
`,
  },
  "exit-codes": {
    guide: "errors",
    text: `
0  Success
1  Failure: the platform returned another error, or the command or its --jq
      failed. If requests had succeeded before, the error has their IDs
2  Usage error: invalid flag, argument, value or combination, also if the
      platform finds it (400), or no valid service.yaml where one is needed
3  Not found (404), or no profile of this name
4  Not signed in (401)
5  Forbidden (403)
6  Rate limited, after retries (429)
7  Cannot reach the platform, or the receiver of webhooks check, send or
      replay
129  The terminal was closed
130  Interrupted by Ctrl-C
143  Terminated

doctor and status exit with 7 if the platform is unreachable, else with 4 if you
are not signed in, else with 1 if another check failed. Warnings do not count.

Commands that run until you stop them exit with 0 after Ctrl-C: serve, demo,
listen, events tail, logs tail and webhooks capture. dev exits with the app's
exit code, or with 130 if Ctrl-C ended the app.

Errors are printed to stderr: what failed, why, what to do next, and the request
ID. With --json, an error is one line of problem details (RFC 9457) on
stderr. Errors of the CLI itself have the same form: what failed and why as
detail, what to do next as hint, the exit code as exit_code, and a code such as
usage, not_signed_in or refused.
`,
  },
  formatting: {
    guide: "commands",
    text: `
Data is printed to stdout, everything else to stderr.

On a terminal  Tables and aligned details, in color
In a pipe
      A list has a line for each item, an object one for each field, with tabs
      between values and no header
--json
      The API's object, or an array of objects for a list. Streaming commands
      print a line for each object
--fields a,b
      Only these fields, in JSON and in tables; dots select nested ones:
      metadata.plan
--jq EXPRESSION
      Filters the JSON with jq, which need not be installed, and prints strings
      without quotes
-q, --quiet
      IDs only, without notes; with --json, the same JSON. Objects without an ID
      are named; checks print what failed, and why prints the cause. A command
      that creates a secret refuses it, unless --json prints the secret
-n, --dry-run
      Prints the requests of a command that changes something, and sends none

  service customers list --json --jq '.[].email'
  id=$(service orders create --amount 1999 --currency EUR --quiet)
`,
  },
  webhooks: {
    guide: "receiving-webhooks",
    text: `
The platform sends each event as a signed POST request to every endpoint that
subscribes to its type:

  Service-Signature: t=<Unix seconds>,v1=<64 hex digits>

v1 is the HMAC-SHA256 of "<t>.<raw body>" with the signing secret.

A receiver must
  1. read the raw body, before any JSON parser,
  2. reject the request if no v1 matches (compared in constant time) or t is
     more than 300 s off,
  3. store the event's ID, and ignore an event that it has already processed,
  4. respond with 2xx within ${LIMITS.deliverySeconds} seconds, and do slow work afterwards.

Any other response is retried for 3 days: after 30 seconds, then with waits that
double up to 6 hours. During a rotation the header has two v1 values, and either
secret verifies.

  import { verify } from "service-cli/webhooks";
  const header = request.headers["service-signature"];
  const event = verify({ payload: rawBody, header, secrets });

To try it locally:
  service serve  Run the platform
  service listen --forward-to localhost:3000  Forward events to your app
  service trigger order.completed  Trigger an event
  service webhooks verify --help  Find out why a signature fails
  service webhooks check localhost:3000  Grade a receiver

These commands need no platform. They handle the webhooks of any provider, with
--scheme stripe, github, shopify, slack, svix, standard, or one of service.yaml:
  service webhooks check 3000/stripe --scheme stripe  Grade a receiver
  service webhooks send 3000/stripe --scheme stripe  Send a signed delivery
  service webhooks capture --forward-to 3000/stripe --record log.ndjson
      Receive at the end of a tunnel
  service webhooks replay log.ndjson --forward-to 3000/stripe
      Send a recording again
  service webhooks sign --help  Sign a payload of yours
`,
  },
};

/** `service help [command or topic]`. */
export const command: CommandDefinition = {
  name: "help",
  about: `Show help for a command or a topic: ${Object.keys(TOPICS).join(", ")}`,
  args: [
    {
      arg: "[name...]",
      about: "Command with its subcommands, or a topic",
      suggest: (before, _context, commands) => suggestNames(before, commands),
    },
  ],
  options: [flag("--all", "Include rarely used flags")],
  run: (context: Context, names: readonly string[], flags: { all?: true }, help: Command) =>
    runHelp(names, flags, help.parent!, context),
};

async function suggestNames(
  before: readonly string[],
  commands: readonly CommandEntry[],
): Promise<readonly Suggestion[]> {
  if (before.length === 0) {
    return [
      ...commands.map(({ name, summary }) => ({ value: name, description: summary })),
      ...Object.keys(TOPICS).map((value) => ({ value, description: "Topic" })),
    ];
  }
  const entry = commands.find(({ name }) => name === before[0]);
  if (before.length > 1 || entry === undefined) return [];
  const { command } = await entry.load();
  return (command.commands ?? []).map(({ name, about, summary = about }) => ({ value: name, description: summary }));
}

function runHelp(names: readonly string[], { all }: { all?: true }, program: Command, context: Context): void {
  const [name] = names;
  // `help webhooks` is a topic, `help webhooks verify` a command.
  const topic = names.length === 1 && Object.hasOwn(TOPICS, name!) ? TOPICS[name!] : undefined;
  if (topic !== undefined) {
    const isCommand = program.commands.some((command) => command.name() === name);
    const command = isCommand ? `For the command: service ${name} --help\n\n` : "";
    const { output } = context;
    const text = output.runnable(`${command}${topic.text.trim()}`);
    return output.line(
      [...textLines(text, output.width), "", output.runnable(`Guide: service open docs ${topic.guide}`)].join("\n"),
    );
  }
  if (names.length === 1 && name === "topics") return context.output.line(HELP_TOPICS.join("\n"));
  const command = commandNamed(program, names);
  const unknown = names.find(
    (_, depth) => commandNamed(program, names.slice(0, depth + 1)) === commandNamed(program, names.slice(0, depth)),
  );
  if (unknown !== undefined) {
    const topics = command === program ? HELP_TOPICS : [];
    const near = nearest(unknown, [...commandNames(command), ...topics]);
    const path = names.slice(0, names.indexOf(unknown));
    throw new UsageError(`Unknown command or topic "${names.join(" ")}"`, {
      hint:
        near.length > 0
          ? didYouMean(near.map((one) => [...path, one].join(" ")))
          : `To list them: ${pathOf(command)} --help${topics.length > 0 ? `\nTopics: ${topics.join(", ")}` : ""}`,
    });
  }
  if (all) rareFlags(command).forEach((option) => option.hideHelp(false));
  command.outputHelp();
}
