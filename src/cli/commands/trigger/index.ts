import { type Command, Option } from "commander";
import { LIMITS } from "../../../contract/limits.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addDryRun } from "../../dry-run.ts";
import { parseEventType } from "../../event-type.ts";
import { addExamples } from "../../help-layout.ts";
import { duration, pairsOption, wholeNumber } from "../../options.ts";
import type { TriggerFlags } from "./run.ts";

/** Retries go on for so long. */
const MOST_WAIT_SECONDS = LIMITS.retryTotalSeconds + LIMITS.retryFirstSeconds;

/** `service trigger <event type>`. */
export function register(program: Command, context: Context): void {
  const trigger = program
    .command("trigger")
    .description("Make an event happen through the API calls that an application would make, in the sandbox.")
    .argument("[type]", "Event type, such as order.completed; --list shows them all")
    .addOption(pairsOption("--override <path=value...>", "Set a field of the object: amount=500, metadata.plan=pro"))
    .addOption(new Option("--data <file>", "The whole data.object as JSON; - is standard input"))
    .addOption(new Option("--count <number>", "Make it happen this often").argParser(wholeNumber(1)).default(1))
    .addOption(new Option("--rate <number>", "At most so many a second").argParser(wholeNumber(1)))
    .addOption(new Option("--wait", "Wait until all deliveries ended; exit 1 if one failed"))
    .addOption(
      new Option("--timeout <duration>", "How long --wait waits")
        .argParser(duration(1, MOST_WAIT_SECONDS))
        .default(60, "1m"),
    )
    .addOption(new Option("--list", "List the event types and the calls behind each"))
    .action((type: string | undefined, flags: TriggerFlags & { list?: true }) => dispatch(type, flags, context));
  addExamples(addDryRun(trigger), [
    "service trigger order.completed",
    "service trigger order.completed --override amount=5000 currency=USD",
    "service trigger payment.failed --override failure_code=insufficient_funds",
    "service trigger customer.created --count 100 --rate 20",
    "service trigger order.completed --data order.json",
    "service trigger order.completed --wait --timeout 30s",
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
  if (type === undefined) throw new UsageError("Which event?", { hint: "`service trigger --list` shows them all." });
  const known = parseEventType(type);
  const { runTrigger } = await import("./run.ts");
  await runTrigger(known, flags, context);
}
