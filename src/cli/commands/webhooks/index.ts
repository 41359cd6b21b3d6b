import { randomBytes } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { collect, pairsFlag } from "../../arguments/repeated.ts";
import { duration, parseFile, parseSpeed, parseTimeout, wholeNumber } from "../../arguments/values.ts";
import type { CheckFlags } from "./check/run.ts";
import { SCHEME_FLAG, type SchemeFlag, schemeNamed } from "../../receivers/scheme.ts";
import { SENT } from "./sent.ts";
import { verification } from "./verify.ts";
import {
  OPTIONAL_SECRET_FLAGS,
  SECRET_FLAGS,
  type SecretFlags,
  secretsOf,
  signingError,
} from "../../receivers/secrets.ts";
import { type CommandDefinition, type Flag, flag, inGroup, type Operand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { documentView } from "../../terminal/view.ts";
import type { ReceiverReport } from "../../../receiver-check/run.ts";
import { createIdGenerator } from "../../../contract/ids.ts";
import { newId } from "../../../receiver-check/samples.ts";

const MAX_WAIT_SECONDS = 3600;
const MAX_DELIVERIES = 100_000;
const SIGNING: readonly Flag[] = [...SECRET_FLAGS, SCHEME_FLAG];

const TIMEOUT: Flag = flag("--timeout <duration>", "Timeout of one delivery", {
  parse: parseTimeout,
  default: 10_000,
  defaultText: "10s",
});

/** Flags of the commands that send deliveries, besides those of the signature. */
const SENDING: readonly Flag[] = [
  flag("-H, --header <header>", "Request header: 'Name: value' (repeatable)", { collect, default: [] }),
  TIMEOUT,
  flag("--skip-verify", "Skip TLS certificate verification of the receiver", { default: false }),
];

const RECEIVER: Operand = { arg: "<url>", about: "Webhook URL of the receiver, such as localhost:3000/webhooks" };

/** `service webhooks`. */
export const command: CommandDefinition = {
  name: "webhooks",
  about: "Test receivers of Stripe, GitHub, Slack and others, without a platform",
  examples: [
    "service webhooks sign --payload event.json # Print the signature of a payload",
    "service webhooks verify --header 't=1764590400,v1=5257a8…' --payload event.json # Find out why a signature is rejected",
    "service webhooks check localhost:3000/stripe --scheme stripe # Grade a receiver of Stripe",
    "service webhooks send localhost:3000/stripe --scheme stripe # Send it one signed event",
    "service webhooks capture --forward-to localhost:3000/webhooks --record webhooks.ndjson # Record what your tunnel forwards",
  ],
  commands: [
    {
      name: "sign",
      about:
        "Print the value of the Service-Signature header for a payload. With --scheme, print every header of the delivery as `Name: value`.",
      summary: "Print the Service-Signature header for a payload",
      options: [
        ...SIGNING,
        flag("--payload <file>", "File with the exact bytes to sign; - for stdin", { required: true }),
        flag("--id <id>", "ID of the delivery, if the scheme has a header for it (default: a random one)"),
        flag("--timestamp <seconds>", "Unix time of the signature (default: now)", { parse: wholeNumber(0) }),
      ],
      examples: [
        "service webhooks sign --secret whsec_… --payload event.json",
        "service webhooks sign --scheme github --payload push.json --json # As GitHub signs",
        `header=$(service webhooks sign --payload event.json); curl -H "Service-Signature: $header" --data-binary @event.json localhost:3000 # Send it with curl`,
      ],
      run: runSign,
    },
    verification,
    {
      name: "check",
      about:
        "Grade a webhook receiver: send deliveries that it must accept and deliveries that it must reject. Requires neither a platform nor a login. Exits with 1 if a required check fails, and with 7 if the receiver cannot be reached.",
      summary: "Grade a webhook receiver",
      args: [RECEIVER],
      options: [
        ...inGroup("Signature", SIGNING),
        ...inGroup("Deliveries", [
          flag(
            "--payload <file>",
            "File with a sample body, of which each delivery sends a copy with a new ID; - for stdin (default: a sample of the provider)",
          ),
          flag(
            "--type <type>",
            "Event type of the sample, one that the receiver processes (default: order.completed, or a usual one of the provider)",
            { formerly: "--event" },
          ),
          pairsFlag("--set <path=value>", "Value to change in the sample or --payload: data.object.amount=500"),
          flag("-H, --header <header>", "Header of each delivery: 'Name: value' (repeatable)", {
            collect,
            default: [],
          }),
        ]),
        ...inGroup("Processed events", [
          flag("--probe <url>", 'URL that returns the number of processed events: a number, or {"count": number}'),
          flag("--effects", "Count processed events: open an address (sink) that the receiver calls for each"),
          flag("--sink <address>", "Address of the sink of --effects: a port, or host:port", {
            parse: parseSink,
            default: { host: "127.0.0.1", port: 4011 } satisfies CheckFlags["sink"],
            defaultText: "127.0.0.1:4011",
          }),
        ]),
        flag("--junit <file>", "File to write a JUnit report to", { parse: parseFile }),
        flag(
          "--wait <duration>",
          "Maximum wait for the first accepted delivery (default: 5m in a terminal without a secret, else no wait)",
          { parse: duration(1, MAX_WAIT_SECONDS) },
        ),
        flag("--timeout <duration>", "Time limit for a response (default: that of the provider)", {
          parse: parseTimeout,
        }),
        flag("--skip-verify", "Skip TLS certificate verification of the receiver"),
      ],
      notes: `
Pass the secret that the receiver has. Without one, the command prints a new
secret in a terminal, and waits until the receiver has been started with it. To
check a rotation, pass both secrets.
To check that duplicate events are processed once, pass --probe or --effects.
With --scheme, the check sends deliveries as that provider does: copies of a
sample, or of your own --payload.
Grades: A if all checks that count passed, B if an advisory one failed or one
that counts could not run, C for one or two mistakes in required checks, D for
more, F if the receiver does not accept a valid delivery in time, or accepts one
that is forged or too old.
The deliveries are synthetic: check a receiver on which they do no harm.
`,
      fields: documentView<ReceiverReport>("report", [
        "object",
        "url",
        "passed",
        "grade",
        "verdict",
        "counts",
        "duration_ms",
        "checks",
      ]),
      examples: [
        "service webhooks check localhost:3000/webhooks",
        "service webhooks check localhost:3000/stripe --scheme stripe # Grade a receiver of Stripe",
        "printenv STRIPE_WEBHOOK_SECRET | service webhooks check 3000/stripe --scheme stripe --payload event.json --secret-file - # With your own event, and a secret from stdin",
        "service webhooks check 3000/webhooks --secret-file secret.txt --probe localhost:3000/count # Count what the app has processed",
        "service webhooks check localhost:3000/webhooks --effects --junit webhooks.xml --wait 30s # Check its calls to other services; start before the app",
      ],
      load: async () => (await import("./check/run.ts")).runCheck,
    },
    {
      name: "send",
      about:
        "Send a signed delivery to a webhook receiver, and print its response. Exits with 1 if the receiver does not accept it.",
      summary: "Send a signed delivery",
      args: [RECEIVER],
      options: [
        ...inGroup("Payload", [
          flag("--payload <file>", "File with the body to send; - for stdin (default: a sample of the provider)"),
          flag(
            "--type <type>",
            "Event type of the sample: order.completed; with --scheme stripe invoice.paid, with github pull_request",
            { formerly: "--sample" },
          ),
          pairsFlag("--set <path=value>", "Value to change in a JSON payload: data.object.amount=500"),
        ]),
        ...inGroup("Signature", SIGNING),
        flag("--count <number>", "Number of deliveries, each with its own ID unless --set sets one", {
          parse: wholeNumber(1, MAX_DELIVERIES),
          default: 1,
        }),
        ...SENDING,
      ],
      dryRun: true,
      fields: SENT,
      examples: [
        "service webhooks send localhost:3000/webhooks",
        "service webhooks send 3000/stripe --scheme stripe --type invoice.paid --dry-run # Print a sample, without sending it",
        "service webhooks send localhost:3000/stripe --scheme stripe --payload event.json --set data.object.amount=500 # Send your own event, with one value changed",
        "service webhooks send 3000/github --scheme github --payload push.json -H 'X-GitHub-Event: push' --count 10 # Send ten copies with different IDs",
      ],
      load: async () => (await import("./send.ts")).runSend,
    },
    {
      name: "capture",
      about:
        "Receive the webhooks of any provider on this machine, as the far end of a tunnel, and forward their exact bytes with the original headers. The sender gets the status of your application, or 200 without --forward-to. With a secret, signatures are verified and shown; deliveries with invalid ones are forwarded too.",
      summary: "Receive and forward the webhooks of any provider",
      options: [
        flag("-f, --forward-to <target>", "URL to forward to, such as localhost:3000/webhooks (default: print only)"),
        flag("--port <number>", "Port to listen on; 0 for a free one", {
          parse: wholeNumber(0, 65_535),
          default: 4020,
        }),
        ...OPTIONAL_SECRET_FLAGS,
        SCHEME_FLAG,
        flag("--record <file>", "File to append every delivery to, for `service webhooks replay`", {
          parse: parseFile,
        }),
        TIMEOUT,
        flag("--skip-verify", "Skip TLS certificate verification of your application", { default: false }),
        flag("--no-ui", "Print plain lines instead of the terminal UI"),
      ],
      isMixed: true,
      examples: [
        "service webhooks capture --forward-to localhost:3000/webhooks",
        "service webhooks capture --scheme stripe --secret-file secret.txt --record stripe.ndjson # Verify signatures, and record",
      ],
      load: async () => (await import("./capture.ts")).runCapture,
    },
    {
      name: "replay",
      about:
        "Send the deliveries of a recording again: with their original headers, or with a new signature if a secret is given. Receivers reject original signatures once their timestamp is too old.",
      summary: "Send recorded deliveries again",
      args: [{ arg: "<file>", about: "Recording of `service webhooks capture` or `service listen`; - for stdin" }],
      options: [
        flag("-f, --forward-to <target>", "URL to send to, such as localhost:3000/webhooks", { required: true }),
        ...OPTIONAL_SECRET_FLAGS,
        SCHEME_FLAG,
        ...SENDING,
        flag("--speed <factor>", "Speed factor: 1 for the original timing, max for no waits", {
          parse: parseSpeed,
          default: 1,
        }),
        flag("--concurrency <number>", "Maximum number of concurrent deliveries", {
          parse: wholeNumber(1, 256),
          default: 16,
        }),
        flag("--retries <number>", "Maximum number of retries of a failed delivery", {
          parse: wholeNumber(0, 100),
          default: 0,
        }),
      ],
      isMixed: true,
      examples: [
        "service webhooks replay stripe.ndjson --forward-to 3000/stripe --scheme stripe --secret-file secret.txt # Sign with new timestamps",
        "service webhooks replay github.ndjson --forward-to localhost:3000/github --speed max # Send the original bytes, without pauses",
      ],
      load: async () => (await import("./replay.ts")).runReplay,
    },
  ],
};

interface SignFlags extends SecretFlags, SchemeFlag {
  payload: string;
  timestamp?: number;
  id?: string;
}

async function runSign(context: Context, flags: SignFlags): Promise<void> {
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const secrets = await secretsOf(flags, context);
  const payload = await context.readInput(flags.payload, "--payload");
  const timestamp = flags.timestamp ?? Math.floor(context.now() / 1000);
  if (flags.id !== undefined && scheme.id?.header === undefined) {
    const place = scheme.id === undefined ? "have no ID" : `have their ID in the payload: ${scheme.id.path}`;
    throw new UsageError(`--id: deliveries of ${scheme.name} ${place}`);
  }
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
    if (error instanceof SignatureError) throw signingError(error);
    throw error;
  }
}

function parseSink(text: string): CheckFlags["sink"] {
  const [, host = "127.0.0.1", digits = ""] = /^(?:\[?(.+?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits !== "" && port <= 65_535) return { host, port };
  throw new InvalidArgumentError("Must be a port, or an address such as 0.0.0.0:4011.");
}
