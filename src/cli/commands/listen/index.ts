import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { secondsOf } from "../../../contract/durations.ts";
import { isId } from "../../../contract/ids.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { parseCondition } from "../../arguments/assignments.ts";
import { collect } from "../../arguments/repeated.ts";
import {
  duration,
  parseFile,
  parseSpeed,
  parseSubscriptions,
  parseTimeout,
  wholeNumber,
} from "../../arguments/values.ts";
import { type CommandDefinition, flag, inGroup, type ParsedCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { flagsOf, variableNames } from "../../project/forwarding.ts";
import { SECRET_VARIABLE } from "../../receivers/secrets.ts";
import type { EnvTarget } from "../../forwarding/files.ts";
import type { ReplayFlags } from "./run.ts";
import type { ListenFlags } from "../../forwarding/listening.ts";

const MAX_SECONDS = 7 * 86_400;

/** Flags that `listen` and `listen replay` share. */
const FORWARDING = inGroup("Forwarding", [
  flag(
    "-f, --forward-to <target>",
    "URL to forward events to, such as localhost:3000/webhooks (default: print events)",
  ),
  flag("--route <events=target>", "Target for some event types: 'order.*=localhost:3000/orders' (repeatable)", {
    collect,
    default: [],
  }),
  flag("-H, --header <header>", "Additional request header: 'Name: value' (repeatable)", { collect, default: [] }),
  flag("--secret-file <file>", `File with the signing secret of your application (default: ${SECRET_VARIABLE})`),
  flag("--secret <secret>", "The secret itself, which other users can see in the process list", { hidden: true }),
  flag("--concurrency <number>", "Maximum number of concurrent forwards", {
    parse: wholeNumber(1, 256),
    default: 16,
    hidden: true,
  }),
  flag("--ordered", "Preserve event order per object", { default: false }),
  flag("--retries <number>", "Maximum number of retries of a failed forward", {
    parse: wholeNumber(0, 100),
    default: 3,
  }),
  flag("--timeout <duration>", "Timeout of one forward", { parse: parseTimeout, default: 10_000, defaultText: "10s" }),
  flag("--skip-verify", "Skip TLS certificate verification of your application", { default: false }),
  flag(
    "--chaos <faults>",
    "Faults to inject, separated by commas: duplicate=0.1, reorder=0.1, drop=0.1, badsig=0.1, stale=0.1, delay=0-3s, burst=20, seed=7",
  ),
]);

/** `service listen`: forwards sandbox events to this machine. */
export const command: CommandDefinition = {
  name: "listen",
  about: "Forward sandbox events to your application, with their exact bytes and fresh signatures",
  usage: "[options] [-- command...]",
  args: [{ arg: "[command...]", about: "Command to run while listening, after --; its exit code is passed on" }],
  options: [
    ...FORWARDING,
    ...inGroup("Events", [
      flag("-e, --events <list>", "Event types, separated by commas: 'order.*,!order.created'", {
        parse: parseSubscriptions,
      }),
      flag("--where <path=value>", "Only events with this value: data.object.amount=500 (repeatable)", {
        collect: parseCondition,
      }),
      flag("--since <start>", "Start position: now, last (resume), an age such as 10m, or an event ID", {
        parse: parseSince,
      }),
    ]),
    ...inGroup("Secret and files", [
      flag("--print-secret", "Print the signing secret and exit (with --json, the ready line contains it too)", {
        default: false,
      }),
      flag(
        "--write-env <file[:name]>",
        "Write the signing secret to this .env file, in the current folder unless a path is given (default name: SERVICE_WEBHOOK_SECRET)",
        { parse: parseEnvTarget },
      ),
      flag("--record <file>", "File to append every event to, for `service listen replay`", { parse: parseFile }),
      flag("--ready-file <file>", "File to write once the listener is ready; removed at exit", {
        parse: parseFile,
        hidden: true,
      }),
    ]),
    ...inGroup("Scripts and tests", [
      flag("--no-ui", "Print plain lines instead of the terminal UI"),
      flag(
        "--fail-on-error",
        "Exit with 1 if a forward failed after all retries, which are made even if the command has ended (for 60 s)",
        { default: false },
      ),
      flag("--wait [duration]", "Wait for the platform to start, up to this long (30s if no duration is given)", {
        parse: duration(1, MAX_SECONDS),
      }),
      flag("--max-downtime <duration>", "Exit after this long without a connection", {
        parse: duration(1, MAX_SECONDS),
        hidden: true,
      }),
    ]),
  ],
  isMixed: true,
  examples: [
    "service listen --forward-to localhost:3000/webhooks # Forward all events",
    "service listen --events 'order.*' --since 10m --forward-to 3000 # Only order events, and those of the last ten minutes too",
    "service listen --route 'order.*=3000/orders' --route 'payment.*=3001' --ordered --retries 5 # To several apps, in order for each object",
    "service listen --forward-to 3000 --chaos duplicate=0.1,reorder=0.2,badsig=0.05 # Repeat 10%, reorder 20%, sign 5% wrong",
    "service listen --forward-to 3000 --where data.object.currency=EUR # Only events with this value",
    "service listen --forward-to 3000 --fail-on-error -- npm test # Run tests; fail if a forward fails",
    "export SERVICE_WEBHOOK_SECRET=$(service listen --print-secret) # Give your app the signing secret",
  ],
  async run(context: Context, loose: string[], flags: ListenFlags, listen: ParsedCommand) {
    rejectUnexpectedWords(loose);
    const { runListen } = await import("./run.ts");
    await runListen({ ...flags, ...(await projectFlags(listen, context)) }, listen.programArgs, context);
  },
  commands: [
    {
      name: "replay",
      about: "Replay the events of a recording with fresh signatures",
      summary: "Replay a recording",
      args: [{ arg: "<file>", about: "Recording of `service listen --record`; - for stdin" }],
      options: [
        flag("--speed <factor>", "Speed factor: 1 for the original timing, max for no waits", {
          parse: parseSpeed,
          default: 1,
        }),
        ...FORWARDING,
      ],
      isMixed: true,
      examples: ["service listen replay events.ndjson --forward-to 3000 --speed max # Without the original pauses"],
      run: async (context: Context, file: string, flags: ReplayFlags, replay: ParsedCommand) =>
        (await import("./run.ts")).runReplay(file, { ...flags, ...replay.optsWithGlobals<ReplayFlags>() }, context),
    },
  ],
};

/** Returns the settings of the project file, without those that flags override. */
async function projectFlags(command: Command, context: Context): Promise<Partial<ListenFlags>> {
  if (!context.hasProjectFile) return {};
  const { readProject } = await import("../../project/read.ts");
  const found = readProject(context.projectFolder);
  if (found === undefined) return {};
  const { forwardTo, route, ...others } = flagsOf(found.project);
  const { file } = found.project.env ?? {};
  const isGiven = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  // The routes of the file would catch events that --forward-to is meant for.
  const ownTargets = isGiven("forwardTo") || isGiven("route");
  if (!ownTargets) (await import("../../project/remote-receivers.ts")).assertReceiversTrusted(found.project, context);
  const targets = ownTargets ? {} : { forwardTo, route };
  const writeEnv =
    file === undefined
      ? undefined
      : { file: resolve(context.projectFolder, file), name: variableNames(found.project).secret };
  const all = Object.entries({ ...targets, ...others, writeEnv });
  return Object.fromEntries(all.filter(([name, value]) => value !== undefined && !isGiven(name)));
}

/** A word before `--` is the value of a forgotten flag, not a command to run. */
function rejectUnexpectedWords(words: readonly string[]): void {
  if (words.length === 0) return;
  throw new UsageError(`Unexpected argument "${words[0]!}"`, {
    hint: shellCommand`To forward to an address: --forward-to ${words[0]!}\nTo run a command: service listen -- ${words}`,
  });
}

/** Parses the start position for the platform: an event ID, `now` or `-<seconds>`. The caller looks up `last`. */
export function parseSince(text: string): string {
  if (text === "now" || text === "last" || isId("event", text)) return text;
  const age = secondsOf(text);
  if (age !== undefined) return `-${age}`;
  throw new InvalidArgumentError("Must be now, last, an age such as 30s, 10m, 2h or 3d, or an event ID.");
}

/** `FILE` or `FILE:NAME`. */
export function parseEnvTarget(text: string): EnvTarget {
  // The colon of a drive is before a separator.
  const [, file = text, name = SECRET_VARIABLE] = /^(.*):([^/\\]*)$/s.exec(text) ?? [];
  if (file === "") throw new InvalidArgumentError("Must be a file such as .env, or .env:WEBHOOK_SECRET.");
  if (/^[A-Za-z_]\w*$/.test(name)) return { file, name };
  throw new InvalidArgumentError(`"${name}" is not the name of a variable: use letters, digits and _.`);
}
