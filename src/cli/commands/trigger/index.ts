import { InvalidArgumentError } from "commander";
import { EVENT_TYPES, type EventType } from "../../../contract/event-types.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { pairsFlag } from "../../arguments/repeated.ts";
import { duration, parseEventType, wholeNumber } from "../../arguments/values.ts";
import { type CommandDefinition, flag } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { EVENTS } from "../../resource/event-view.ts";
import { documentView, type ResourceView } from "../../terminal/view.ts";
import type { CallResult } from "../../triggering/fixture.ts";
import { RECIPES } from "../../triggering/recipes.ts";
import type { TriggerFlags } from "./run.ts";

/** Retries last this long. */
const MAX_WAIT_SECONDS = LIMITS.retryTotalSeconds + LIMITS.retryFirstSeconds;

const FIXTURE_HELP = `
A fixture is a list of API calls, sent in order. Later calls can refer to the
responses of earlier calls by name. \${unique} is different in each run:

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

interface TypeEntry {
  type: EventType;
  calls: string[];
  overrides: string[];
}

const TYPES: ResourceView<TypeEntry> = {
  noun: "event type",
  key: "type",
  fields: ["type", "calls", "overrides"],
  columns: [
    { label: "Type", text: ({ type }) => type, style: "strong" },
    { label: "Calls", text: ({ calls }) => calls.join(", "), shrinks: true, wraps: true },
    { label: "Overrides", text: ({ overrides }) => overrides.join(", "), shrinks: true, wraps: true, optional: true },
  ],
};

const CALLS = documentView<CallResult>("call", ["name", "method", "path", "status", "reply"]);

/** `service trigger <event type>`. */
export const command: CommandDefinition = {
  name: "trigger",
  about: "Trigger an event in the sandbox through the API calls that an application would make",
  args: [{ arg: "[type]", about: "Event type, such as order.completed; for all types, pass --list" }],
  options: [
    pairsFlag("--override <path=value>", "Field of the object: amount=500, metadata.plan=pro"),
    flag("--data <file>", "JSON file with the complete data.object; - for stdin"),
    flag("--edit", "Edit the object in $VISUAL or $EDITOR first"),
    flag("--count <number>", "Number of events; with --json, one line for each", { parse: wholeNumber(1), default: 1 }),
    flag("--rate <rate>", "Maximum rate: 50/s, 600/m", { parse: parseRate }),
    flag("--fixture <file>", "JSON or YAML file of API calls to send instead; - for stdin", {
      conflicts: ["override", "data", "edit", "count", "rate"],
    }),
    flag("--cleanup", "Remove the created objects afterwards, and list those that cannot be removed"),
    flag("--wait", "Wait until all deliveries have finished; exit 1 if one failed"),
    flag("--timeout <duration>", "Maximum time to wait with --wait", {
      parse: duration(1, MAX_WAIT_SECONDS),
      default: 60,
      defaultText: "1m",
    }),
    flag("--list", "List the event types and their API calls"),
  ],
  dryRun: true,
  fields: EVENTS.view,
  fieldsWith: { list: TYPES, fixture: CALLS },
  notes: FIXTURE_HELP,
  examples: [
    "service trigger order.completed # Create an order and complete it",
    "service trigger order.completed --override amount=5000 --override currency=USD # Change values of the order",
    "service trigger payment.failed --override failure_code=insufficient_funds # Choose why the payment fails",
    "service trigger customer.created --count 1000 --rate 50/s # 1,000 events, 50 a second",
    "service trigger order.completed --data order.json # Use your own order",
    "service trigger order.completed --edit # Edit the order first, in $EDITOR",
    "service trigger order.completed --wait --timeout 30s # Wait until the deliveries have finished",
    "service trigger --fixture shop.yaml --cleanup # Send the calls of a file, then delete what they created",
  ],
  run: dispatch,
};

async function dispatch(
  context: Context,
  type: string | undefined,
  { list, ...flags }: TriggerFlags & { list?: true },
): Promise<void> {
  if (list) return await listTypes(context);
  if (type === undefined && flags.fixture === undefined) {
    if (context.interactive) {
      const question = { message: "Event type (type to search)", flag: "the event type", choices: EVENT_TYPES };
      return await dispatch(context, await context.prompts.one(question), flags);
    }
    throw new UsageError("No event type specified", { hint: "To list them: service trigger --list" });
  }
  if (type !== undefined && flags.fixture !== undefined) {
    throw new UsageError("--fixture cannot be combined with an event type", {
      hint: "Remove the event type; the fixture defines the calls.",
    });
  }
  const known = type === undefined ? undefined : parseEventType(type);
  const { runTrigger } = await import("./run.ts");
  await runTrigger(known, flags, context);
}

/** Parses `50`, `50/s` or `600/m` to a number per second. */
function parseRate(text: string): number {
  const [, count, unit = "s"] = /^(\d{1,7})(?:\/(s|m))?$/.exec(text) ?? [];
  const rate = Number(count) / (unit === "m" ? 60 : 1);
  if (rate > 0) return rate;
  throw new InvalidArgumentError("Must be a rate such as 50/s or 600/m.");
}

/** `service trigger --list`. */
async function listTypes(context: Context): Promise<void> {
  const entries = EVENT_TYPES.map((type) => ({
    type,
    calls: RECIPES[type].map((step) => `${step.method} ${step.path("ID")}`),
    overrides: [...new Set(RECIPES[type].flatMap((step) => step.takes))],
  }));
  await context.output.list(entries, TYPES);
}
