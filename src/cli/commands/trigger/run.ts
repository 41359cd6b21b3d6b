import type { Client } from "../../../client/http.ts";
import type { EventType } from "../../../contract/event-types.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event, ListedEvent } from "../../../contract/schemas/event.ts";
import type { Statistics } from "../../../contract/schemas/statistics.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { counted, listed } from "../../../contract/words.ts";
import type { Pair } from "../../arguments/repeated.ts";
import type { Context } from "../../context.ts";
import { showRequests } from "../../dry-run.ts";
import { UsageError, UserError } from "../../errors.ts";
import { parseObject } from "../../input.ts";
import { EVENTS } from "../../resource/event-view.ts";
import { printable } from "../../terminal/printable.ts";
import { formatDuration, formatSpan } from "../../terminal/time.ts";
import { type Call, callLine, Cleanup, findEvent, perform, type TriggeredEvent } from "../../triggering/perform.ts";
import { type Outcomes, readOutcomes } from "../../triggering/outcomes.ts";
import { dataOf, editableFields, planSteps, type Step } from "../../triggering/recipes.ts";

export interface TriggerFlags {
  override: Pair[];
  data?: string;
  /** A file with calls to make instead of an event type's own. */
  fixture?: string;
  count: number;
  /** Number of events per second. */
  rate?: number;
  cleanup?: true;
  edit?: true;
  wait?: true;
  /** Seconds. */
  timeout: number;
}

const MAX_CONCURRENT = 8;

/** Causes an event, once or many times. Without a type, makes the calls of a fixture. */
export async function runTrigger(type: EventType | undefined, flags: TriggerFlags, context: Context): Promise<void> {
  if (context.globals.live) {
    throw new UsageError("Events can be triggered in the sandbox only", { hint: "Remove --live." });
  }
  const cleanup = new Cleanup();
  const work = await prepare(type, flags, cleanup, context);
  const client = await context.client();
  // After Ctrl-C nothing more is sent.
  const cleanUp = async () => {
    if (flags.cleanup && !context.signal.aborted) await cleanup.run(client, context);
  };
  try {
    const events = await work(client);
    const [event] = events;
    if (!flags.wait && flags.count === 1 && type !== undefined && event !== undefined) {
      await noteMissingReceiver(event.id, client, context);
    }
    if (flags.wait && !context.globals.dryRun) await reportDeliveries(events, client, flags.timeout, context);
  } catch (error) {
    await cleanUp().catch((failure: unknown) => context.output.warn((failure as Error).message));
    throw error;
  }
  await cleanUp();
}

/** Reads and validates everything before anything is sent. */
async function prepare(
  type: EventType | undefined,
  flags: TriggerFlags,
  cleanup: Cleanup,
  context: Context,
): Promise<(client: Client) => Promise<TriggeredEvent[]>> {
  if (type === undefined) {
    const { parseFixture, runFixture } = await import("../../triggering/fixture.ts");
    const file = flags.fixture!;
    const calls = parseFixture(await context.readInput(file, "--fixture"), file);
    return (client) => runFixture(calls, { client, cleanup, findsEvents: flags.wait === true, context });
  }
  const steps = await plan(type, flags, context);
  if (context.globals.dryRun) return (client) => showSteps(steps, client, context);
  return async (client) =>
    flags.count === 1
      ? [await triggerOnce(type, steps, cleanup, client, context)]
      : await triggerMany(type, steps, flags, cleanup, client, context);
}

/** Returns the calls of an event, with the fields that the user has edited. */
async function plan(type: EventType, { override, data: file, edit }: TriggerFlags, context: Context): Promise<Step[]> {
  const data =
    file === undefined
      ? undefined
      : parseObject((await context.readInput(file, "--data")).toString("utf8"), `--data: ${file}`);
  const planned = planSteps(type, override, data);
  if (!edit) return planned;
  const { editObject } = await import("../../process/editor.ts");
  if (data !== undefined) return planSteps(type, [], await editObject(dataOf(planned), context));
  const fields = editableFields(planned, uniqueName(context));
  if (Object.keys(fields).length === 0) {
    throw new UsageError(`${type} has no fields to edit`, { hint: "Pass the complete object: --data FILE --edit." });
  }
  const edited = Object.entries(await editObject(fields, context));
  return planSteps(
    type,
    edited.map(([name, value]): Pair => [name, JSON.stringify(value)]),
    undefined,
  );
}

/** Prints all calls of one event. */
async function showSteps(steps: readonly Step[], client: Client, context: Context): Promise<TriggeredEvent[]> {
  const requests = steps.map((step) => ({
    method: step.method,
    path: step.path("{id}"),
    ...(step.body === undefined ? {} : { body: step.body(uniqueName(context), "{id}") }),
  }));
  await showRequests(context.output, client.baseUrl, requests);
  return [];
}

async function triggerOnce(
  type: EventType,
  steps: readonly Step[],
  cleanup: Cleanup,
  client: Client,
  context: Context,
): Promise<Event> {
  const { output } = context;
  const onCall = (call: Call): void => {
    cleanup.note(call);
    if (!output.json && !output.quiet && !output.chosen) output.line(callLine(call, context));
  };
  const outcome = await perform(client, steps, { unique: uniqueName(context), onCall, now: () => context.now() });
  const event = await findEvent(client, type, outcome);
  if (event === undefined)
    throw new UserError(`The API calls succeeded, but no ${type} event of ${outcome.subject} was found`);
  if (output.json || output.quiet || output.chosen) await output.object(event, EVENTS.view);
  else if (output.terminal) output.success(`Triggered ${output.noteStyles.strong(type)} ${event.id}`);
  else output.line(`EVENT\t${type}\t${event.id}`);
  return event;
}

/** Causes many events, up to 8 at once, started no faster than the rate. Resolves with the events if requested. */
async function triggerMany(
  type: EventType,
  steps: readonly Step[],
  { count, rate, wait }: TriggerFlags,
  cleanup: Cleanup,
  client: Client,
  context: Context,
): Promise<Event[]> {
  const { output } = context;
  const print = output.stream(EVENTS.view, ({ id }: ListedEvent) => id);
  const isPrinted = output.json || output.quiet || output.chosen;
  const needsEvents = isPrinted || !output.terminal || wait === true;
  const events: Event[] = [];
  // A bar would mix with lines of JSON on a terminal.
  const bar = output.progress(output.json ? 1 : count, type);
  if (rate !== undefined) bar.limitTo(rate);
  const started = context.now();
  let next = 0;
  let done = 0;
  let isStopped = false;

  async function work(): Promise<void> {
    while (next < count && !isStopped) {
      const mine = next++;
      if (rate !== undefined) await context.sleep(Math.max(0, started + (mine * 1000) / rate - context.now()));
      const outcome = await perform(client, steps, {
        unique: uniqueName(context),
        onCall: (call) => cleanup.note(call),
        now: () => context.now(),
      });
      const event = needsEvents ? await findEvent(client, type, outcome) : undefined;
      if (event !== undefined) events.push(event);
      if (event !== undefined && isPrinted) await print(event);
      else if (event !== undefined && !output.terminal) output.line(`EVENT\t${type}\t${event.id}`);
      done += 1;
      bar.advance();
    }
  }

  const workers = Array.from({ length: Math.min(MAX_CONCURRENT, count) }, () =>
    work().catch((error: unknown) => {
      isStopped = true;
      throw error;
    }),
  );
  // Waits for calls in flight, so that a cleanup knows of them.
  const outcomes = await Promise.allSettled(workers);
  bar.end();
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) {
    output.notice(`Triggered ${done} of ${count} × ${type}`);
    throw failed.reason;
  }
  const milliseconds = context.now() - started;
  output.success(`Triggered ${count} × ${type} in ${formatDuration(milliseconds)}`);
  return events;
}

function uniqueName(context: Context): string {
  return context.uuid().slice(0, 8);
}

const FIRST_WAIT_MILLISECONDS = 100;
const MAX_WAIT_MILLISECONDS = 2000;
/** Time limit for the first result of a listener: a forward takes 10 s at most by default, and three retries 7 s. */
const MAX_LISTENER_SECONDS = 10;
const STYLES = { succeeded: "good", failed: "bad", pending: "warn", canceled: "dim" } as const;

/**
 * Waits until every delivery of the events has succeeded or permanently failed, and prints the results. Throws
 * UserError if one failed, if there is none, or if one is still pending after this many seconds. A listener
 * reports its delivery after the last attempt.
 */
async function reportDeliveries(
  events: readonly TriggeredEvent[],
  client: Client,
  timeout: number,
  context: Context,
): Promise<void> {
  const { output } = context;
  const listenerTimeout = Math.min(timeout, MAX_LISTENER_SECONDS);
  const now = context.now();
  const deadlines = { all: now + timeout * 1000, listeners: now + listenerTimeout * 1000 };
  const { deliveries, forwarding, unknown } = await output.spinner.during("Waiting for deliveries", () =>
    awaitOutcomes(events, client, deadlines, context),
  );
  if (deliveries.length === 0 && forwarding.length === 0) {
    const [first] = events;
    const hint =
      first === undefined ? await receiveHint(context) : shellCommand`For the reason: service why ${first.id}`;
    throw new UserError(
      `No deliveries: no enabled endpoint subscribes to this event type, and no listener forwarded it within ${listenerTimeout} s`,
      { hint, code: "no_receiver" },
    );
  }
  if (!output.json && !output.quiet && !output.chosen)
    for (const delivery of deliveries) output.line(deliveryLine(delivery, context));
  const failed = deliveries.filter(({ status }) => status === "failed" || status === "canceled");
  const pending = deliveries.filter(({ status }) => status === "pending");
  const open = pending.length + forwarding.length;
  if (failed.length > 0) {
    throw new UserError(`${countOf(failed, deliveries)} ${failed[0]!.status}`, {
      hint: shellCommand`For details: service why ${failed[0]!.id}`,
      code: "delivery_failed",
    });
  }
  if (open > 0) {
    const subject = pending[0]?.id ?? events[0]!.id;
    const advance = pending.length === 0 ? "" : "\nTo run the retries now: service clock advance 3d";
    const all = counted(deliveries.length + forwarding.length, "delivery", "deliveries");
    throw new UserError(
      `${open === deliveries.length + forwarding.length ? all : `${open} of ${all}`} still pending after ${formatSpan(timeout)}`,
      { hint: shellCommand`For details: service why ${subject}` + advance, code: "delivery_pending" },
    );
  }
  if (unknown.length > 0)
    output.warn(`No result from the listener of ${listed(unknown, "and")} within ${listenerTimeout} s`);
  output.success(`${countOf(deliveries, deliveries)} succeeded`);
}

async function receiveHint(context: Context): Promise<string> {
  const target = (await context.projectTarget()) ?? "localhost:3000";
  return shellCommand`To receive it: service listen --forward-to ${target} --since 10m`;
}

/**
 * Tells a person that no endpoint and no listener receives an event. The credential may lack the permission to check
 * this.
 */
async function noteMissingReceiver(event: string, client: Client, context: Context): Promise<void> {
  const { output } = context;
  if (!output.terminal || output.json || output.quiet) return;
  const read = <Body>(path: string, query: Record<string, string>) =>
    client.request<Body>({ method: "GET", path, query, isBackground: true });
  try {
    const deliveries = await read<{ data: Delivery[] }>("/v1/deliveries", { event });
    if (deliveries.body.data.length > 0) return;
    const { body } = await read<Statistics>("/v1/statistics", {});
    if (body.listeners === 0) output.note(`No endpoint or listener receives this event. ${await receiveHint(context)}`);
  } catch {
    // The event was created, so this failure does not matter.
  }
}

/** Polls until the deadline (Unix milliseconds), and once more then. Resolves with the outcomes of all events. */
async function awaitOutcomes(
  events: readonly TriggeredEvent[],
  client: Client,
  deadlines: { all: number; listeners: number },
  context: Context,
): Promise<Outcomes> {
  const all: Outcomes = { deliveries: [], forwarding: [], unknown: [] };
  for (const [i, event] of events.entries()) {
    for (let wait = FIRST_WAIT_MILLISECONDS; ; wait = Math.min(wait * 1.5, MAX_WAIT_MILLISECONDS)) {
      const { deliveries, forwarding, unknown } = await readOutcomes(client, event);
      const pending = deliveries.filter(({ status }) => status === "pending");
      const isOpen = pending.length + forwarding.length > 0;
      const left = (isOpen ? deadlines.all : deadlines.listeners) - context.now();
      if ((!isOpen && unknown.length === 0 && deliveries.length > 0) || left <= 0) {
        all.deliveries.push(...deliveries);
        all.forwarding.push(...forwarding);
        all.unknown.push(...unknown);
        break;
      }
      context.output.spinner.update(
        pending.length > 0 ? formatProgress(pending, deliveries, events.length - i - 1) : "Waiting for a listener",
      );
      await context.sleep(Math.min(wait, left));
    }
  }
  return all;
}

function formatProgress(pending: readonly Delivery[], all: readonly Delivery[], eventsLeft: number): string {
  const ended = `Waiting for deliveries: ${all.length - pending.length} of ${all.length} finished`;
  const attempts = Math.max(...pending.map(({ attempt_count }) => attempt_count));
  const tried = attempts === 0 ? "" : `, ${counted(attempts, "attempt")}`;
  const more = eventsLeft === 0 ? "" : `; ${counted(eventsLeft, "more event")}`;
  return ended + tried + more;
}

function deliveryLine({ id, status, endpoint, listener }: Delivery, { output }: Context): string {
  const receiver = printable(endpoint ?? listener ?? "");
  if (!output.terminal) return ["DELIVERY", printable(id), status, receiver].join("\t");
  const { styles } = output;
  return `${styles[STYLES[status]](status.padEnd("succeeded".length))}  ${styles.accent(printable(id))}  ${styles.dim(`to ${receiver}`)}`;
}

function countOf(some: readonly Delivery[], all: readonly Delivery[]): string {
  const shown = counted(all.length, "delivery", "deliveries");
  return some.length === all.length ? shown : `${some.length} of ${shown}`;
}
