import { type Command, InvalidArgumentError, Option } from "commander";
import { duration, parseEventType } from "../../../arguments/values.ts";
import type { Context } from "../../../context.ts";
import { addExamples } from "../../../help-layout.ts";
import { addSecretOptions } from "../secrets.ts";
import type { CheckFlags } from "./run.ts";

const MAX_WAIT_SECONDS = 3600;

/** `service webhooks check <url>`. */
export function registerCheck(webhooks: Command, context: Context): void {
  const check = addSecretOptions(
    webhooks
      .command("check")
      .summary("Grade a webhook receiver")
      .description(
        "Grade a webhook receiver: send deliveries that it must accept and deliveries that it must reject. Requires neither a platform nor a login. Exits with 1 if a required check fails.",
      )
      .argument("<url>", "Webhook URL of the receiver, such as localhost:3000/webhooks"),
  )
    .option("--probe <url>", 'URL that returns the number of processed events: a number, or {"count": number}')
    .option("--effects", "Open a sink that the receiver calls once for each processed event")
    .addOption(
      new Option("--sink <address>", "Address of the sink of --effects: a port, or host:port")
        .argParser(parseSink)
        .default({ host: "127.0.0.1", port: 4011 } satisfies CheckFlags["sink"], "127.0.0.1:4011"),
    )
    .option("--event <type>", "Event type to send; one that the receiver processes", "order.completed")
    .option("--junit <file>", "File for the results as JUnit XML")
    .option(
      "--wait <duration>",
      "Maximum wait for the first accepted delivery (default: 5m without a secret, else no wait)",
      duration(1, MAX_WAIT_SECONDS),
    )
    .option("--skip-verify", "Skip TLS certificate verification of the receiver")
    .addHelpText(
      "after",
      `
Without a secret, the command prints one: set it in the receiver. The check starts with the first
accepted delivery. To check a rotation, pass both secrets.
To check that duplicate events are processed once, pass --probe or --effects. The deliveries
are synthetic: check a receiver on which they do no harm.
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

function parseSink(text: string): CheckFlags["sink"] {
  const [, host = "127.0.0.1", digits = ""] = /^(?:\[?(.+?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits !== "" && port <= 65_535) return { host, port };
  throw new InvalidArgumentError("Must be a port, or an address such as 0.0.0.0:4011.");
}
