import type { Client } from "../../../client/http.ts";
import { eventsAfter, newestEventId } from "../../../client/pages.ts";
import type { EventType } from "../../../contract/event-types.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event, ListedEvent } from "../../../contract/schemas/event.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { counted } from "../../../contract/words.ts";
import { type Condition, meets, textAt } from "../../arguments/assignments.ts";
import type { ParsedCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import { ChildCommand } from "../../process/foreground.ts";
import { assertJq, filterWithJq } from "../../terminal/jq.ts";
import { writeJunit } from "../../terminal/junit.ts";
import { printable } from "../../terminal/printable.ts";
import { viewOf } from "../../terminal/view.ts";
import { readOutcomes } from "../../triggering/outcomes.ts";

interface ExpectFlags {
  within: number;
  count?: number;
  where?: Condition[];
  delivered?: true;
  junit?: string;
}

const POLL_MILLISECONDS = 250;

/**
 * Watches events until the expectation is met or cannot be met any more. Throws UserError if it was not met, or, with
 * its exit code, if the command failed.
 */
export async function runExpect(
  context: Context,
  type: EventType,
  flags: ExpectFlags,
  { programArgs: command }: ParsedCommand,
): Promise<void> {
  const { output } = context;
  const jq = context.globals.selection;
  if (jq !== undefined) await assertJq(jq);
  const { where: conditions = [], count, delivered: isDelivered = false } = flags;
  const client = await context.client();
  const beganAt = performance.now();
  const watch = new Watch(client, { type, conditions, jq, count, isDelivered }, await newestEventId(client));
  const end = command.length === 0 ? undefined : await new ChildCommand(command, {}, context).ended;
  // Failures of the command take precedence over missing events, so there is no need to wait.
  const failed = end === undefined || end.exitCode === 0 ? undefined : end;
  const seconds = failed === undefined ? flags.within : 0;
  const unmet = await output.spinner.during(`Waiting for ${type}`, () => observe(watch, seconds, context));
  const durationMs = performance.now() - beganAt;
  const { matching: events, deliveries, nearest, others } = watch;
  const message =
    failed === undefined
      ? unmet && messageOf(unmet, watch, seconds)
      : (failed.error?.message ?? `The command exited with ${failed.exitCode}: ${shellCommand`${command}`}`);
  const code = failed === undefined ? unmet : "command_failed";
  const report: ExpectationReport = {
    object: "expectation",
    type,
    status: code === null ? "met" : "failed",
    code,
    message,
    exit_code: end?.exitCode ?? null,
    events,
    deliveries,
    nearest,
    others: Object.fromEntries(others),
    duration_ms: Math.round(durationMs),
  };
  const hint = hintLines(report).join("\n");
  if (flags.junit !== undefined) {
    const name = [type, ...conditions.map(({ text }) => text), ...(jq === undefined ? [] : [jq])].join(" ");
    const { duration_ms: milliseconds } = report;
    const failure = message === null ? undefined : { type: code ?? "", message, text: hint };
    const one = { classname: "service.expect", name, milliseconds, failure };
    await writeJunit(flags.junit, { name: "service expect", milliseconds, cases: [one] }, context);
  }
  if (output.json || output.chosen) await output.object(report, viewOf("expectation", report));
  else {
    for (const { id, type: shown, created } of events) {
      output.line(output.quiet ? id : [id, shown, created].map(printable).join("\t"));
    }
  }
  if (code !== null && message !== null) {
    throw new UserError(message, { hint: hint || undefined, code, exitCode: failed?.exitCode });
  }
  output.success(`${type} as expected`);
}

/** Returns why the expectation was not met, or null. */
async function observe(watch: Watch, seconds: number, context: Context): Promise<FailureCode | null> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    // Checked before the last poll, so that events just before the deadline are included.
    const isOver = performance.now() >= deadline;
    await watch.look();
    const verdict = watch.judge(isOver);
    if (verdict !== "open") return verdict === "met" ? null : verdict;
    await context.sleep(Math.max(1, Math.min(POLL_MILLISECONDS, deadline - performance.now())));
  }
}

/** The result as `--json` has it. */
export interface ExpectationReport {
  object: "expectation";
  type: string;
  status: "met" | "failed";
  code: FailureCode | "command_failed" | null;
  /** Why the expectation failed. */
  message: string | null;
  exit_code: number | null;
  events: Event[];
  deliveries: Delivery[];
  nearest: Near | null;
  /** Number of events of other types, by type. */
  others: Record<string, number>;
  duration_ms: number;
}

function messageOf(
  code: FailureCode,
  { expectation, matching, deliveries, isForwarding }: Watch,
  seconds: number,
): string {
  const { type, count } = expectation;
  const summary = counted(matching.length, "matching event");
  switch (code) {
    case "event_not_seen":
      return `No matching ${type} within ${seconds} s`;
    case "too_few_events":
      return `${summary} instead of ${count} within ${seconds} s`;
    case "too_many_events":
      return `${summary} instead of ${count}`;
    case "delivery_failed":
      return `A delivery of ${type} failed`;
    case "not_delivered":
      return deliveries.length === 0 && !isForwarding
        ? `${type} has no delivery: no endpoint or listener received it within ${seconds} s`
        : `${type} was not delivered within ${seconds} s`;
  }
}

/** The hint of a failure: the nearest event, the difference, and the next command. */
function hintLines({ type, code, deliveries, nearest, others, events }: ExpectationReport): string[] {
  const lines: string[] = [];
  if (nearest !== null) {
    lines.push(`Closest event: ${nearest.event.id}`);
    for (const { condition, expected, actual } of nearest.differences) {
      lines.push(`  ${condition}`, `    expected  ${expected}`, `    actual    ${actual ?? "not present"}`);
    }
  }
  const received = Object.entries(others).map(([type, count]) => `${count} × ${type}`);
  if (code === "event_not_seen" || code === "too_few_events") {
    if (received.length > 0) lines.push(`Other events received: ${received.join(", ")}`);
    else if (nearest === null && events.length === 0) lines.push("No events arrived.");
    if (nearest === null)
      lines.push(
        shellCommand`Earlier events do not count. To list them: service events list --type ${type} --since 1h`,
      );
  }
  const failure = deliveries.find(({ status }) => status !== "succeeded");
  const subject = failure?.id ?? (code === "not_delivered" ? events[0]?.id : nearest?.event.id);
  if (subject !== undefined) lines.push(shellCommand`For details: service why ${subject}`);
  return lines;
}

interface Expectation {
  type: EventType;
  conditions: readonly Condition[];
  /** A jq expression that must yield true. */
  jq: string | undefined;
  /** Expects exactly this many; undefined for one or more. */
  count: number | undefined;
  isDelivered: boolean;
}

/** Why an expectation was not met: stable names. */
type FailureCode = "event_not_seen" | "too_few_events" | "too_many_events" | "not_delivered" | "delivery_failed";

/** The event that comes closest to the expectation, and how it differs. */
interface Near {
  event: Event;
  differences: { condition: string; expected: string; actual: string | null }[];
}

/** `met` and failures are final; `open` can become either until the time is up. */
type Verdict = "met" | "open" | FailureCode;

/** Watches the events that follow a position in the log. */
class Watch {
  readonly #client: Client;
  readonly expectation: Expectation;
  #position: string | undefined;
  readonly matching: Event[] = [];
  /** Number of events of other types, by type. */
  readonly others = new Map<string, number>();
  /** The event of the type with the fewest differences. */
  nearest: Near | null = null;
  deliveries: Delivery[] = [];
  /** True while a connected listener has not reported its last attempt; of an unknown one, this may never come. */
  isForwarding = false;
  #isUnknown = false;

  constructor(client: Client, expectation: Expectation, position: string | undefined) {
    this.#client = client;
    this.expectation = expectation;
    this.#position = position;
  }

  /** Reads new events. */
  async look(): Promise<void> {
    const fresh: ListedEvent[] = [];
    for await (const event of eventsAfter(this.#client, this.#position)) fresh.push(event);
    this.#position = fresh[0]?.id ?? this.#position;
    for (const event of fresh.toReversed()) await this.#take(event);
    if (!this.expectation.isDelivered) return;
    const outcomes = [];
    for (const event of this.matching) outcomes.push(await readOutcomes(this.#client, event));
    this.deliveries = outcomes.flatMap(({ deliveries }) => deliveries);
    this.isForwarding = outcomes.some(({ forwarding }) => forwarding.length > 0);
    this.#isUnknown = outcomes.some(({ unknown }) => unknown.length > 0);
  }

  async #take(event: ListedEvent): Promise<void> {
    const { type, conditions, jq } = this.expectation;
    if (event.type !== type || event.data === null) {
      this.others.set(event.type, (this.others.get(event.type) ?? 0) + 1);
      return;
    }
    const differences = conditions
      .filter((condition) => !meets(event, condition))
      .map(({ text, path, isNegated, value }) => ({
        condition: text,
        expected: isNegated ? `not ${value}` : value,
        actual: textAt(event, path) ?? null,
      }));
    if (jq !== undefined) {
      const actual = await filterWithJq(event, jq);
      if (actual !== "true") differences.push({ condition: jq, expected: "true", actual });
    }
    if (differences.length === 0) this.matching.push(event);
    else if (this.nearest === null || differences.length <= this.nearest.differences.length) {
      this.nearest = { event, differences };
    }
  }

  /** Judges the events. `isOver` is true once the time is up. */
  judge(isOver: boolean): Verdict {
    const { matching, deliveries } = this;
    const { count, isDelivered } = this.expectation;
    const { length: matched } = matching;
    if (count !== undefined && matched > count) return "too_many_events";
    if (isDelivered && deliveries.some(({ status }) => status === "failed" || status === "canceled")) {
      return "delivery_failed";
    }
    if (matched < (count ?? 1)) {
      if (!isOver) return "open";
      return matched === 0 ? "event_not_seen" : "too_few_events";
    }
    const delivered = new Set(deliveries.filter(({ status }) => status === "succeeded").map(({ event }) => event));
    const isPending = this.isForwarding || deliveries.some(({ status }) => status === "pending");
    if (isDelivered && (isPending || matching.some(({ id }) => !delivered.has(id)))) {
      return isOver ? "not_delivered" : "open";
    }
    // Until the time is up, another event or the result of a listener could arrive.
    return (count === undefined && !this.#isUnknown) || isOver ? "met" : "open";
  }
}
