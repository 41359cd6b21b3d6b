import { parseCondition } from "../../arguments/assignments.ts";
import { duration, parseEventType, parseFile, wholeNumber } from "../../arguments/values.ts";
import { type CommandDefinition, flag } from "../../command.ts";
import { documentView } from "../../terminal/view.ts";
import type { ExpectationReport } from "./run.ts";

const MAX_SECONDS = 3600;

const REPORT = documentView<ExpectationReport>("expectation", [
  "object",
  "type",
  "status",
  "code",
  "message",
  "exit_code",
  "events",
  "deliveries",
  "nearest",
  "others",
  "duration_ms",
]);

/** `service expect`. */
export const command: CommandDefinition = {
  name: "expect",
  about:
    "Assert that an event happens and, with --delivered, that it is delivered. Watches events from now on; with a command, while it runs and for --within afterwards. Exits with 1 if the expectation is not met, or with the exit code of the command if it fails.",
  usage: "<event type> [options] [-- command...]",
  args: [{ arg: "<event type>", about: "Type of the event, such as order.completed", parse: parseEventType }],
  options: [
    flag("--within <duration>", "Time limit; starts when the command exits, if there is one", {
      parse: duration(1, MAX_SECONDS),
      default: 5,
      defaultText: "5s",
    }),
    flag(
      "--count <number>",
      "Expect exactly this many events, and wait for the whole time limit (default: at least one)",
      { parse: wholeNumber(0) },
    ),
    flag("--where <path=value>", "Only events with this value: data.object.amount=500 (repeatable)", {
      collect: parseCondition,
    }),
    flag("--delivered", "Require that these events are delivered, and that all of their deliveries succeed"),
    flag("--junit <file>", "File to write a JUnit report to", { parse: parseFile }),
  ],
  fields: REPORT,
  examples: [
    "service expect order.completed --within 10s # Wait for an event that happens from now on",
    "service expect order.completed --where data.object.amount=500 --delivered -- npm test # The tests must cause it, and each endpoint accept it",
    "service expect payment.failed --count 0 --junit report.xml -- ./checkout.sh # The script must not cause any",
    "service expect order.created --jq '.data.object.amount > 100' # Only events for which the expression is true",
  ],
  load: async () => (await import("./run.ts")).runExpect,
};
