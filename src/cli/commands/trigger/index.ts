import { type Command, InvalidArgumentError, Option } from "commander";
import { LIMITS } from "../../../contract/limits.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addDryRun } from "../../dry-run.ts";
import { parseEventType } from "../../arguments/event-types.ts";
import { addExamples } from "../../help-layout.ts";
import { duration } from "../../arguments/times.ts";
import { pairsOption } from "../../arguments/pairs.ts";
import { wholeNumber } from "../../arguments/numbers.ts";
import type { TriggerFlags } from "./run.ts";

/** Retries go on for so long. */
const MOST_WAIT_SECONDS = LIMITS.retryTotalSeconds + LIMITS.retryFirstSeconds;

const FIXTURE_HELP = `
A fixture is a list of API calls, made in turn; later ones refer to the replies of earlier ones by
name. \${unique} is fresh in each run:

  - name: ada
    method: POST
    path: /v1/customers
    body: { email: "ada.\${unique}@example.com" }
  - name: order
    method: POST
    path: /v1/orders
    body: { amount: 1999, currency: EUR, customer: "\${ada.id}" }
  - method: POST
    path: /v1/orders/\${order.id}/complete
`;

/** `service trigger <event type>`. */
export function register(program: Command, context: Context): void {
  const trigger = program
    .command("trigger")
    .description("Make an event happen through the API calls that an application would make, in the sandbox.")
    .argument("[type]", "Event type, such as order.completed; --list shows them all")
    .addOption(pairsOption("--override <path=value>", "Set a field of the object: amount=500, metadata.plan=pro"))
    .addOption(new Option("--data <file>", "The whole data.object as JSON; - is standard input"))
    .addOption(new Option("--count <number>", "Make it happen this often").argParser(wholeNumber(1)).default(1))
    .addOption(new Option("--rate <rate>", "At most so many: 50/s, 600/m").argParser(parseRate))
    .addOption(
      new Option("--fixture <file>", "Make the calls of a JSON or YAML file instead; - is standard input").conflicts([
        "override",
        "data",
        "count",
        "rate",
      ]),
    )
    .addOption(new Option("--cleanup", "Remove afterwards what was made, and say what cannot be removed"))
    .addOption(new Option("--wait", "Wait until all deliveries ended; exit 1 if one failed"))
    .addOption(
      new Option("--timeout <duration>", "How long --wait waits")
        .argParser(duration(1, MOST_WAIT_SECONDS))
        .default(60, "1m"),
    )
    .addHelpText("after", FIXTURE_HELP)
    .addOption(new Option("--list", "List the event types and the calls behind each"))
    .action((type: string | undefined, flags: TriggerFlags & { list?: true }) => dispatch(type, flags, context));
  addExamples(addDryRun(trigger), [
    "service trigger order.completed",
    "service trigger order.completed --override amount=5000 --override currency=USD",
    "service trigger payment.failed --override failure_code=insufficient_funds",
    "service trigger customer.created --count 1000 --rate 50/s",
    "service trigger order.completed --data order.json",
    "service trigger order.completed --wait --timeout 30s",
    "service trigger --fixture shop.yaml --cleanup",
  ]);
}

async function dispatch(
  type: string | undefined,
  { list, ...flags }: TriggerFlags & { list?: true },
  context: Context,
): Promise<void> {
  if (list) {
    const { listTypes } = await import("./list-types.ts");
    return await listTypes(context);
  }
  if (type === undefined && flags.fixture === undefined) {
    throw new UsageError("Which event?", { hint: "`service trigger --list` shows them all." });
  }
  if (type !== undefined && flags.fixture !== undefined) {
    throw new UsageError("An event type and --fixture exclude each other", {
      hint: "The calls of the fixture say what happens.",
    });
  }
  const known = type === undefined ? undefined : parseEventType(type);
  const { runTrigger } = await import("./run.ts");
  await runTrigger(known, flags, context);
}

/** `50`, `50/s` or `600/m`, a second. */
function parseRate(text: string): number {
  const [, count, unit = "s"] = /^(\d{1,7})(?:\/(s|m))?$/.exec(text) ?? [];
  const rate = Number(count) / (unit === "m" ? 60 : 1);
  if (rate > 0) return rate;
  throw new InvalidArgumentError("It is a rate such as 50/s or 600/m.");
}
