import { type Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { parseSubscriptions } from "../../arguments/event-types.ts";
import { addExamples } from "../../help-layout.ts";
import { duration } from "../../arguments/times.ts";
import { wholeNumber } from "../../arguments/numbers.ts";
import { collect, repeatable } from "../../arguments/repeated.ts";
import { type EnvTarget, parseEnvTarget, parseFile, parseSince, parseSpeed, parseTimeout } from "./flag-values.ts";
import type { ForwardingFlags } from "./forwarding-options.ts";

export interface ListenFlags extends ForwardingFlags {
  events?: string[];
  /** What the platform is asked for: an event id, `now` or `-<seconds>`; or `last`. */
  since?: string;
  printSecret: boolean;
  writeEnv?: EnvTarget;
  readyFile?: string;
  record?: string;
  /** Seconds. */
  wait?: number | true;
  /** Seconds. */
  maxDowntime?: number;
}

export interface ReplayFlags extends ForwardingFlags {
  speed: number;
}

const MAX_SECONDS = 7 * 86_400;

/** `service listen`: sandbox events, relayed to this machine. */
export function register(program: Command, context: Context, behind: readonly string[] = []): void {
  const listen = addForwardingFlags(
    program
      .command("listen")
      .description("Relay the sandbox's events to your application, exactly as they are and freshly signed.")
      .usage("[options] [-- command...]")
      .argument("[command...]", "Behind --: run this while events flow, and end with its exit code")
      .option(
        "-e, --events <list>",
        "Only these types, separated by commas: 'order.*,customer.created'",
        parseSubscriptions,
      )
      .option(
        "--since <start>",
        "Where to start: now, last (where it ended), an age such as 10m, or an event id",
        parseSince,
      )
      .option("--print-secret", "Print the signing secret and end", false)
      .option(
        "--write-env <file[:name]>",
        "Put the secret into this .env file (SERVICE_WEBHOOK_SECRET)",
        parseEnvTarget,
      )
      .option("--ready-file <file>", "Write this file once events flow; it goes at the end", parseFile)
      .option("--record <file>", "Write every event into this file, for listen replay", parseFile)
      .option("--wait [duration]", "Wait this long for the platform to start (default: 30s)", duration(1, MAX_SECONDS))
      .option("--max-downtime <duration>", "Exit after this long without a connection", duration(1, MAX_SECONDS)),
  ).action(async (loose: string[], flags: ListenFlags) => {
    refuseLooseWords(loose);
    const { runListen } = await import("./run.ts");
    await runListen(flags, behind, context);
  });
  addExamples(listen, [
    "service listen --forward-to localhost:3000/webhooks",
    "service listen --events 'order.*' --since 10m --forward-to 3000",
    "service listen --route 'order.*=3000/orders' --route 'payment.*=3001' --ordered --retries 5",
    "service listen --forward-to 3000 --chaos duplicate=0.1,reorder=0.2,badsig=0.05",
    "service listen --forward-to 3000 -- npm test",
    "export WEBHOOK_SECRET=$(service listen --print-secret)",
  ]);
  const replay = addForwardingFlags(
    listen
      .command("replay")
      .summary("Send a recording again")
      .description("Send the events of a recording again, newly signed.")
      .argument("<file>", "What listen --record wrote; - reads standard input")
      .option("--speed <factor>", "1 keeps the recording's own time, max waits for nothing", parseSpeed, 1),
  ).action(async (file: string, flags: ReplayFlags, command: Command) => {
    const { runReplay } = await import("./replay.ts");
    await runReplay(file, { ...flags, ...command.optsWithGlobals<ReplayFlags>() }, context);
  });
  addExamples(replay, ["service listen replay events.ndjson --forward-to 3000 --speed max"]);
}

function addForwardingFlags(command: Command): Command {
  return command
    .option("-f, --forward-to <target>", "Where to send events: localhost:3000/webhooks; without it they are printed")
    .addOption(
      repeatable(
        new Option("--route <events=target>", "Send these elsewhere: 'order.*=localhost:3000/orders' (repeatable)"),
        collect,
      ).default([]),
    )
    .addOption(
      repeatable(
        new Option("-H, --header <header>", "Send this header too: 'Name: value' (repeatable)"),
        collect,
      ).default([]),
    )
    .option("--secret <secret>", "Sign with this secret instead of the session's own")
    .option("--concurrency <number>", "The most forwards at once", wholeNumber(1, 256), 16)
    .option("--ordered", "One event of an object at a time, in their order", false)
    .option("--retries <number>", "Try a failed forward again so often", wholeNumber(0, 100), 3)
    .addOption(
      new Option("--timeout <duration>", "The limit of one forward").argParser(parseTimeout).default(10_000, "10s"),
    )
    .option("--skip-verify", "Accept any TLS certificate of your application", false)
    .option(
      "--chaos <faults>",
      "Put faults in: duplicate, reorder, drop, badsig, stale =0.1, delay=0-3s, burst=20, seed=7",
    );
}

/** Before `--` a word is the value of a forgotten flag, not a command to run. */
function refuseLooseWords(words: readonly string[]): void {
  if (words.length === 0) return;
  throw new UsageError(`"${words[0]!}" stands alone`, {
    hint: `An address needs its flag: --forward-to ${words[0]!}\nA command to run stands behind --: service listen -- ${words.join(" ")}`,
  });
}
