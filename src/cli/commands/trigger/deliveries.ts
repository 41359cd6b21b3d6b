import type { Client } from "../../../client/http.ts";
import { allItems } from "../../../client/pages.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Statistics } from "../../../contract/schemas/statistics.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { printable } from "../../terminal/printable.ts";
import { formatSpan } from "../../terminal/time.ts";
import type { TriggeredEvent } from "../../triggering/perform.ts";

const FIRST_WAIT_MILLISECONDS = 100;
const MAX_WAIT_MILLISECONDS = 2000;
/** Time limit for the first result of a listener: a forward takes 10 s at most by default, and three retries 7 s. */
const MAX_LISTENER_SECONDS = 10;
const STYLES = { succeeded: "good", failed: "bad", pending: "warn", canceled: "dim" } as const;

/**
 * Waits until every delivery of the events has succeeded or permanently failed, and prints the results. Throws
 * UserError if one failed, if there is none, or if one is still pending after this many seconds. An event without endpoints may be forwarded by a
 * listener, which reports its delivery after the last attempt.
 */
export async function reportDeliveries(
  events: readonly TriggeredEvent[],
  client: Client,
  timeout: number,
  context: Context,
): Promise<void> {
  const { output } = context;
  const listenerTimeout = Math.min(timeout, MAX_LISTENER_SECONDS);
  const now = context.now();
  const deadlines = { all: now + timeout * 1000, listeners: now + listenerTimeout * 1000 };
  const deliveries = await output.spinner.during("Waiting for deliveries", () =>
    awaitDeliveries(events, client, deadlines, context),
  );
  if (deliveries.length === 0) {
    throw new UserError(
      `No deliveries: no endpoint subscribes to this event type, and no listener forwarded it within ${listenerTimeout} s`,
      { hint: RECEIVE, code: "no_receiver" },
    );
  }
  if (!output.json && !output.quiet) for (const delivery of deliveries) output.line(deliveryLine(delivery, context));
  const failed = deliveries.filter(({ status }) => status === "failed" || status === "canceled");
  const pending = deliveries.filter(({ status }) => status === "pending");
  if (failed.length > 0) {
    throw new UserError(`${countOf(failed, deliveries)} ${failed[0]!.status}`, {
      hint: shellCommand`For details: service deliveries get ${failed[0]!.id}`,
      code: "delivery_failed",
    });
  }
  if (pending.length > 0) {
    throw new UserError(`${countOf(pending, deliveries)} still pending after ${formatSpan(timeout)}`, {
      hint: shellCommand`For details: service deliveries get ${pending[0]!.id}\nTo run the retries now: service clock advance 3d`,
      code: "delivery_pending",
    });
  }
  output.success(`${countOf(deliveries, deliveries)} succeeded`);
}

const RECEIVE = "To receive it: service listen --forward-to localhost:3000";

/**
 * Tells a person that no endpoint and no listener receives an event. The credential may lack the permission to check
 * this.
 */
export async function noteMissingReceiver(event: string, client: Client, { output }: Context): Promise<void> {
  if (!output.terminal || output.json || output.quiet) return;
  const read = <Body>(path: string, query: Record<string, string>) =>
    client.request<Body>({ method: "GET", path, query, isBackground: true });
  try {
    const deliveries = await read<{ data: Delivery[] }>("/v1/deliveries", { event });
    if (deliveries.body.data.length > 0) return;
    const { body } = await read<Statistics>("/v1/statistics", {});
    if (body.listeners === 0) output.note(`No endpoint or listener receives this event. ${RECEIVE}`);
  } catch {
    // The event was created, so this failure does not matter.
  }
}

/** Polls, for the last time at the deadline, in Unix milliseconds. */
async function awaitDeliveries(
  events: readonly TriggeredEvent[],
  client: Client,
  deadlines: { all: number; listeners: number },
  context: Context,
): Promise<Delivery[]> {
  const ended: Delivery[] = [];
  for (const [i, event] of events.entries()) {
    for (let wait = FIRST_WAIT_MILLISECONDS; ; wait = Math.min(wait * 1.5, MAX_WAIT_MILLISECONDS)) {
      const deliveries = await allItems<Delivery>(client, "/v1/deliveries", { event: event.id });
      const pending = deliveries.filter(({ status }) => status === "pending");
      const hasNone = deliveries.length === 0;
      const left = (hasNone ? deadlines.listeners : deadlines.all) - context.now();
      if ((pending.length === 0 && !hasNone) || left <= 0) {
        ended.push(...deliveries);
        break;
      }
      context.output.spinner.update(
        hasNone ? "Waiting for a listener" : formatProgress(pending, deliveries, events.length - i - 1),
      );
      await context.sleep(Math.min(wait, left));
    }
  }
  return ended;
}

function formatProgress(pending: readonly Delivery[], all: readonly Delivery[], eventsLeft: number): string {
  const ended = `Waiting for deliveries: ${all.length - pending.length} of ${all.length} finished`;
  const attempts = Math.max(...pending.map(({ attempt_count }) => attempt_count));
  const tried = attempts === 0 ? "" : `, ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
  const more = eventsLeft === 0 ? "" : `; ${eventsLeft} more ${eventsLeft === 1 ? "event" : "events"}`;
  return ended + tried + more;
}

function deliveryLine({ id, status, endpoint, listener }: Delivery, { output }: Context): string {
  const receiver = printable(endpoint ?? listener ?? "");
  if (!output.terminal) return ["DELIVERY", printable(id), status, receiver].join("\t");
  const { styles } = output;
  return `${styles[STYLES[status]](status.padEnd("succeeded".length))}  ${styles.accent(printable(id))}  ${styles.dim(`to ${receiver}`)}`;
}

function countOf(some: readonly Delivery[], all: readonly Delivery[]): string {
  const noun = all.length === 1 ? "delivery" : "deliveries";
  return some.length === all.length ? `${all.length} ${noun}` : `${some.length} of ${all.length} ${noun}`;
}
