import { type Command, Option } from "commander";
import { EVENT_TYPES, matchesSubscriptions } from "../../../contract/event-types.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import type { Context } from "../../context.ts";
import { parseSubscriptions } from "../../arguments/event-types.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { printable } from "../../terminal/printable.ts";
import { clockTime } from "../../terminal/traffic.ts";
import { textOf } from "../../terminal/view.ts";
import { followList } from "../resource/follow.ts";
import { EVENTS } from "./view.ts";

const GAP = "  ";
const TYPE_WIDTH = Math.max(...EVENT_TYPES.map((type) => type.length));

export function registerTail(events: Command, context: Context): void {
  const tail = events
    .command("tail")
    .description("Follow events until Ctrl-C")
    .addOption(
      new Option("-e, --events <list>", "Event types, separated by commas: 'order.*,customer.created'").argParser(
        parseSubscriptions,
      ),
    )
    .action(({ events: subscriptions }: { events?: string[] }) => runTail(subscriptions ?? ["*"], context));
  addExamples(addFields(tail, EVENTS.view), [
    "service events tail",
    "service events tail --events 'order.*,payment.failed'",
    "service events tail --json --jq '{id, type}'",
  ]);
}

async function runTail(subscriptions: readonly string[], context: Context): Promise<void> {
  const { output } = context;
  const print = output.stream(EVENTS.view, (event: Event) => eventLine(event, context));
  await followList<Event>(context, {
    path: EVENTS.path,
    query: { type: subscriptions.length === 1 ? subscriptions[0] : undefined },
    timed: true,
    inCommitOrder: true,
    ready: `Following ${subscriptions.join(", ")}. Press Ctrl-C to stop.`,
    waiting: "Waiting for events",
    wanted: (event) => matchesSubscriptions(subscriptions, event.type),
    print,
  });
}

/** Omits the object's ID if the line does not fit. */
function eventLine(event: Event, { output: { styles, width } }: Context): string {
  const time = clockTime(Date.parse(event.created));
  const type = printable(event.type).padEnd(TYPE_WIDTH);
  const id = printable(event.id);
  const subject = printable(textOf(event.data.object["id"]));
  const whole = [time, type, id, subject].join(GAP).length <= width;
  return [styles.dim(time), styles.strong(type), id, ...(whole ? [styles.dim(subject)] : [])].join(GAP);
}
