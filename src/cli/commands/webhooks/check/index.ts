import { type Command, InvalidArgumentError, Option } from "commander";
import { parseEventType } from "../../../arguments/event-types.ts";
import type { Context } from "../../../context.ts";
import { addExamples } from "../../../help-layout.ts";
import { duration } from "../../../arguments/times.ts";
import { addSecretOptions, type SecretFlags } from "../secrets.ts";

const MOST_WAIT_SECONDS = 3600;

export interface CheckFlags extends SecretFlags {
  probe?: string;
  effects?: true;
  sink: SinkAddress;
  event: string;
  junit?: string;
  /** Seconds. */
  wait?: number;
  skipVerify?: true;
}

export interface SinkAddress {
  host: string;
  port: number;
}

/** `service webhooks check <url>`. */
export function registerCheck(webhooks: Command, context: Context): void {
  const check = addSecretOptions(
    webhooks
      .command("check")
      .description(
        "Send a receiver the deliveries that it must accept and those that it must refuse, and grade it. Needs no platform and no login. Exits with 1 where a required check fails.",
      )
      .argument("<url>", "The receiver's webhook route: localhost:3000/webhooks"),
  )
    .option("--probe <url>", 'Answers a GET with how often the receiver has acted: a number, or {"count": number}')
    .option("--effects", "Open a sink that the receiver calls once for each event that it acts on")
    .addOption(
      new Option("--sink <address>", "Where the sink of --effects listens: a port, or host:port")
        .argParser(parseSink)
        .default({ host: "127.0.0.1", port: 4011 } satisfies SinkAddress, "127.0.0.1:4011"),
    )
    .option("--event <type>", "Type of the deliveries: one that the receiver acts on", "order.completed")
    .option("--junit <file>", "Write the results as JUnit XML too")
    .option(
      "--wait <duration>",
      "How long the receiver may take to accept its first delivery (default: 5m without a secret, else not at all)",
      duration(1, MOST_WAIT_SECONDS),
    )
    .option("--skip-verify", "Accept any TLS certificate of the receiver")
    .addHelpText(
      "after",
      `
Without a secret one is printed: set it in the receiver, and the check begins with the first
delivery that is accepted. Give the two secrets of a rotation to check that both are accepted.
Whether a repeated event is acted on once shows in effects only: give --probe, or --effects. The
deliveries are made up; check a receiver that does no harm with them.
`,
    )
    .action(async (url: string, flags: CheckFlags) => {
      parseEventType(flags.event);
      const { runCheck } = await import("./run.ts");
      await runCheck(url, flags, context);
    });
  addExamples(check, [
    "service webhooks check localhost:3000/webhooks",
    "service webhooks check 3000/webhooks --secret-file secret.txt --probe localhost:3000/count",
    "service webhooks check localhost:3000/webhooks --effects --junit webhooks.xml --wait 30s",
  ]);
}

function parseSink(text: string): SinkAddress {
  const [, host = "127.0.0.1", digits = ""] = /^(?:\[?(.+?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits !== "" && port <= 65_535) return { host, port };
  throw new InvalidArgumentError("It is a port, or an address such as 0.0.0.0:4011.");
}
