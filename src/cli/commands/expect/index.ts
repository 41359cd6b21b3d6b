import { type Command, Option } from "commander";
import { parseCondition } from "../../arguments/conditions.ts";
import { repeatable } from "../../arguments/repeated.ts";
import { duration, parseEventType, wholeNumber } from "../../arguments/values.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import type { ExpectationReport, ExpectFlags } from "./run.ts";

const MAX_SECONDS = 3600;

const FIELDS = {
  noun: "expectation",
  fields: ["object", "type", "status", "code", "message", "events", "deliveries", "nearest", "others", "duration_ms"],
} satisfies { noun: string; fields: (keyof ExpectationReport)[] };

/** `service expect`. */
export function register(program: Command, context: Context, programArgs: readonly string[] = []): void {
  const expect = program
    .command("expect")
    .description(
      "Assert that an event happens and, with --delivered, that it is delivered. Watches events from now on; with a command, while it runs and for --within afterwards. Exits with 1 if the expectation is not met, or with the exit code of the command if it fails.",
    )
    .argument("<event type>", "Type of the event, such as order.completed", parseEventType)
    .addOption(
      new Option("--within <duration>", "Time limit, from the end of the command if there is one")
        .argParser(duration(1, MAX_SECONDS))
        .default(5, "5s"),
    )
    .addOption(
      new Option(
        "--count <number>",
        "Expect exactly this many events, and wait for the whole time limit (default: at least one)",
      ).argParser(wholeNumber(0)),
    )
    .addOption(
      repeatable(
        new Option("--where <path=value>", "Only events with this value: data.object.amount=500 (repeatable)"),
        parseCondition,
      ),
    )
    .option("--delivered", "Require that these events are delivered, and that all of their deliveries succeed")
    .option("--junit <file>", "Write a JUnit report to this file")
    .usage("<event type> [options] [-- command...]")
    .action(async (type, flags: ExpectFlags) => {
      const { runExpect } = await import("./run.ts");
      await runExpect(type, flags, programArgs, context);
    });
  addExamples(addFields(expect, FIELDS), [
    "service expect order.completed --within 10s",
    "service expect order.completed --where data.object.amount=500 --delivered -- npm test",
    "service expect payment.failed --count 0 --junit report.xml -- ./checkout.sh",
    "service expect order.created --jq '.data.object.amount > 100'",
  ]);
}
