import { randomBytes } from "node:crypto";
import { type Command, InvalidArgumentError, Option } from "commander";
import { collect, pairsOption, repeatable } from "../../arguments/repeated.ts";
import { duration, parseEventType, wholeNumber } from "../../arguments/values.ts";
import type { CheckFlags } from "./check/run.ts";
import type { CaptureFlags } from "./capture.ts";
import type { ReplayFlags } from "./replay.ts";
import type { SendFlags } from "./send.ts";
import { addSchemeOption, type SchemeFlag, schemeNamed } from "../../receivers/scheme.ts";
import { parseFile, parseSpeed, parseTimeout } from "../../forwarding/flags.ts";
import { registerVerify } from "./verify.ts";
import { addSecretOptions, type SecretFlags, secretsOf } from "../../receivers/secrets.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { createIdGenerator } from "../../../contract/ids.ts";
import { newId } from "../../../receiver-check/samples.ts";

/** `service webhooks`. */
export function register(program: Command, context: Context): void {
  const webhooks = program
    .command("webhooks")
    .description("Sign and verify payloads and check receivers, without a platform");
  addExamples(webhooks, [
    "service webhooks sign --payload event.json",
    "service webhooks verify --header 't=1764590400,v1=5257a8…' --payload event.json",
    "service webhooks check localhost:3000/webhooks",
    "service webhooks send localhost:3000/stripe --scheme stripe --payload event.json",
    "service webhooks capture --forward-to localhost:3000/webhooks --record webhooks.ndjson",
  ]);
  registerSign(webhooks, context);
  registerVerify(webhooks, context);
  registerCheck(webhooks, context);
  registerSend(webhooks, context);
  registerCapture(webhooks, context);
  registerReplay(webhooks, context);
}

interface SignFlags extends SecretFlags, SchemeFlag {
  payload: string;
  timestamp?: number;
  id?: string;
}

function registerSign(webhooks: Command, context: Context): void {
  const sign = addSchemeOption(
    addSecretOptions(
      webhooks
        .command("sign")
        .summary("Print the Service-Signature header for a payload")
        .description(
          "Print the value of the Service-Signature header for a payload. With --scheme, print every header of the delivery as `Name: value`.",
        ),
    ),
  )
    .requiredOption("--payload <file>", "File with the exact bytes to sign; - for stdin")
    .option("--id <id>", "ID of the delivery, if the scheme has a header for it (default: a random one)")
    .option("--timestamp <seconds>", "Unix time of the signature (default: now)", wholeNumber(0))
    .action((flags: SignFlags) => runSign(flags, context));
  addExamples(sign, [
    "service webhooks sign --secret whsec_… --payload event.json",
    "service webhooks sign --scheme github --payload push.json --json",
    `curl -H "Service-Signature: $(service webhooks sign --payload event.json)" --data-binary @event.json localhost:3000`,
  ]);
}

async function runSign(flags: SignFlags, context: Context): Promise<void> {
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const secrets = await secretsOf(flags, context);
  const payload = await context.readInput(flags.payload, "--payload");
  const timestamp = flags.timestamp ?? Math.floor(context.now() / 1000);
  const id = flags.id ?? newId(scheme, createIdGenerator(randomBytes), context.now());
  const [{ sign }, { SignatureError }] = await Promise.all([
    import("../../../webhooks/schemes.ts"),
    import("../../../webhooks/index.ts"),
  ]);
  const { output } = context;
  try {
    const headers = sign({ scheme, payload, secrets, timestamp, id });
    const header = headers[scheme.signature.header]!;
    if (output.json) return await output.document(flags.scheme === undefined ? { header, timestamp } : { headers });
    if (flags.scheme === undefined) return output.line(header);
    for (const [name, value] of Object.entries(headers)) output.line(`${name}: ${value}`);
  } catch (error) {
    if (error instanceof SignatureError) throw new UsageError(error.message, { code: error.code, cause: error });
    throw error;
  }
}

const MAX_WAIT_SECONDS = 3600;

/** `service webhooks check <url>`. */
function registerCheck(webhooks: Command, context: Context): void {
  const check = addSchemeOption(
    addSecretOptions(
      webhooks
        .command("check")
        .summary("Grade a webhook receiver")
        .description(
          "Grade a webhook receiver: send deliveries that it must accept and deliveries that it must reject. Requires neither a platform nor a login. Exits with 1 if a required check fails.",
        )
        .argument("<url>", "Webhook URL of the receiver, such as localhost:3000/webhooks"),
    ),
  )
    .option(
      "--payload <file>",
      "File with the body of a delivery, of which each delivery is a copy with its own ID; - for stdin",
    )
    .addOption(
      repeatable(
        new Option("-H, --header <header>", "Header of each delivery: 'Name: value' (repeatable)"),
        collect,
      ).default([]),
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
Pass the secret that the receiver has; to read it from a variable:
  printenv STRIPE_WEBHOOK_SECRET | service webhooks check … --secret-file -
Without one, the command prints a new secret and waits until the receiver has
been started with it. To check a rotation, pass both secrets.
To check that duplicate events are processed once, pass --probe or --effects.
With --scheme, the check sends deliveries as that provider does; pass one as
--payload.
The deliveries are synthetic: check a receiver on which they do no harm.
`,
    )
    .action(async (url: string, flags: CheckFlags) => {
      parseEventType(flags.event);
      const { runCheck } = await import("./check/run.ts");
      await runCheck(url, flags, context);
    });
  addExamples(check, [
    "service webhooks check localhost:3000/webhooks",
    "service webhooks check localhost:3000/stripe --scheme stripe --payload event.json",
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

/** `service webhooks send <url>`. */
function registerSend(webhooks: Command, context: Context): void {
  const send = addReceiverOptions(
    addSchemeOption(
      addSecretOptions(
        webhooks
          .command("send")
          .summary("Send a signed delivery")
          .description(
            "Send a signed delivery to a webhook receiver, and print its response. Exits with 1 if the receiver does not accept it.",
          )
          .argument("<url>", "Webhook URL of the receiver, such as localhost:3000/webhooks"),
      ),
    ),
  )
    .requiredOption("--payload <file>", "File with the body to send; - for stdin")
    .addOption(pairsOption("--set <path=value>", "Value to change in a JSON payload: data.object.amount=500"))
    .addOption(
      new Option("--count <number>", "Number of deliveries, each with an ID of its own")
        .argParser(wholeNumber(1, MAX_DELIVERIES))
        .default(1),
    )
    .action(async (url: string, flags: SendFlags) => {
      const { runSend } = await import("./send.ts");
      await runSend(url, flags, context);
    });
  addExamples(addFields(send, SENT), [
    "service webhooks send localhost:3000/webhooks --payload event.json",
    "service webhooks send localhost:3000/stripe --scheme stripe --payload event.json --set data.object.amount=500",
    "service webhooks send 3000/github --scheme github --payload push.json -H 'X-GitHub-Event: push' --count 10",
  ]);
}

const MAX_DELIVERIES = 100_000;
const SENT = {
  noun: "delivery",
  fields: ["id", "url", "status", "duration_ms", "headers", "response_headers", "body", "error", "hint"],
} as const;

/** `service webhooks capture`. */
function registerCapture(webhooks: Command, context: Context): void {
  const capture = addSchemeOption(
    addSecretOptions(
      webhooks
        .command("capture")
        .summary("Receive and forward the webhooks of any provider")
        .description(
          "Receive the webhooks of any provider on this machine, as the far end of a tunnel, and forward their exact bytes with the original headers. The sender gets the status of your application, or 200 without --forward-to. With a secret, signatures are verified and shown; deliveries with invalid ones are forwarded too.",
        ),
    ),
  )
    .addOption(
      new Option("--port <number>", "Port to listen on; 0 for a free one")
        .argParser(wholeNumber(0, 65_535))
        .default(4020),
    )
    .option("-f, --forward-to <target>", "URL to forward to, such as localhost:3000/webhooks (default: print only)")
    .option("--record <file>", "File to append every delivery to, for `service webhooks replay`", parseFile)
    .addOption(timeoutOption())
    .option("--skip-verify", "Skip TLS certificate verification of your application", false)
    .option("--no-ui", "Print plain lines instead of the terminal UI")
    .action(async (flags: CaptureFlags) => {
      const { runCapture } = await import("./capture.ts");
      await runCapture(flags, context);
    });
  addExamples(capture, [
    "service webhooks capture --forward-to localhost:3000/webhooks",
    "service webhooks capture --scheme stripe --secret-file secret.txt --record stripe.ndjson",
  ]);
}

/** `service webhooks replay <file>`. */
function registerReplay(webhooks: Command, context: Context): void {
  const replay = addReceiverOptions(
    addSchemeOption(
      addSecretOptions(
        webhooks
          .command("replay")
          .summary("Send recorded deliveries again")
          .description(
            "Send the deliveries of a recording again: with their original headers, or newly signed if a secret is given. Receivers reject an original signature with a timestamp once it is too old.",
          )
          .argument("<file>", "Recording of `service webhooks capture` or `service listen`; - for stdin"),
      ),
    ),
  )
    .requiredOption("-f, --forward-to <target>", "URL to send to, such as localhost:3000/webhooks")
    .option("--speed <factor>", "Speed factor: 1 for the original timing, max for no waits", parseSpeed, 1)
    .option("--concurrency <number>", "Maximum number of concurrent deliveries", wholeNumber(1, 256), 16)
    .option("--retries <number>", "Maximum number of retries of a failed delivery", wholeNumber(0, 100), 0)
    .action(async (file: string, flags: ReplayFlags) => {
      const { runReplay } = await import("./replay.ts");
      await runReplay(file, flags, context);
    });
  addExamples(replay, [
    "service webhooks replay stripe.ndjson --forward-to 3000/stripe --scheme stripe --secret-file secret.txt",
    "service webhooks replay github.ndjson --forward-to localhost:3000/github --speed max",
  ]);
}

function addReceiverOptions(command: Command): Command {
  return command
    .addOption(
      repeatable(new Option("-H, --header <header>", "Request header: 'Name: value' (repeatable)"), collect).default(
        [],
      ),
    )
    .addOption(timeoutOption())
    .option("--skip-verify", "Skip TLS certificate verification of the receiver", false);
}

function timeoutOption(): Option {
  return new Option("--timeout <duration>", "Timeout of one delivery").argParser(parseTimeout).default(10_000, "10s");
}
