import stringWidth from "string-width";
import { apiPath } from "../../../client/base-url.ts";
import { memberNamesOf } from "../../../client/response-check.ts";
import { isSuccess } from "../../../contract/is-success.ts";
import { statusesOf } from "../../../contract/resources.ts";
import type { Attempt, Delivery } from "../../../contract/schemas/delivery.ts";
import { objectId } from "../../arguments/values.ts";
import { type CommandDefinition, flag } from "../../command.ts";
import type { Context } from "../../context.ts";
import { environmentNow } from "../../environment-time.ts";
import { awaitAttempt, showAttempt } from "../../resource/attempt-result.ts";
import { assertOneOrMany, BULK_FIELDS, type BulkFlags, bulkFlags, runBulk } from "../../resource/bulk.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID, statusColumn } from "../../resource/columns.ts";
import { resourceFor } from "../../resource/resource.ts";
import { actionVerb, callVerb, IDEMPOTENCY_KEY, idOperand, listVerb, SEARCH_FILTERS } from "../../resource/verbs.ts";
import { codeOfError, shortError } from "../../../explain/attempts.ts";
import { typed } from "../../../explain/resend.ts";
import { printable } from "../../terminal/printable.ts";
import { foldText } from "../../terminal/spans.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatDuration, formatSpan } from "../../terminal/time.ts";
import { type Column, withField } from "../../terminal/view.ts";

const STATUS = statusColumn("delivery");
const TYPE: Column<Delivery> = { label: "Type", text: ({ event_type }) => event_type, style: "strong" };
const EVENT: Column<Delivery> = { label: "Event", text: ({ event }) => event };
const ATTEMPTS: Column<Delivery> = {
  label: "Attempts",
  text: ({ attempt_count }) => String(attempt_count),
  align: "right",
};
const RESPONSE: Column<Delivery> = {
  label: "Response",
  text({ last_status_code: status, last_error: error }, { terminal }) {
    if (status !== null || error === null) return String(status ?? "");
    return (terminal ? undefined : codeOfError(error)) ?? shortError(error);
  },
  shrinks: true,
};
/** An endpoint or a listener. A person knows its sessions, which have one ID, by where they forward to. */
const RECEIVER: Column<Delivery> = {
  label: "Receiver",
  text: ({ endpoint, listener, target }, { terminal }) =>
    endpoint ?? (terminal && target !== null ? typed(target) : listener) ?? "",
};
const RECEIVER_BY: Column<Delivery> = {
  ...RECEIVER,
  text: (delivery, view) =>
    RECEIVER.text(delivery, view) + (view.terminal && delivery.target !== null ? ` by ${delivery.listener}` : ""),
};
/** A listener reports a delivery after its last attempt. */
const REPORTED_AT: Column<Delivery> = {
  ...CREATED_AT,
  text: (delivery, view) =>
    CREATED_AT.text(delivery, view) + (view.terminal && delivery.listener !== null ? ", by the listener's report" : ""),
};
/** In the sandbox's own time, for which a relative time would be wrong. */
const NEXT: Column<Delivery> = { label: "Next attempt", text: ({ next_attempt }) => next_attempt ?? "" };

const DELIVERIES = resourceFor<Delivery>("delivery", {
  fields: memberNamesOf("Delivery"),
  columns: [
    ID,
    STATUS,
    { ...TYPE, shrinks: true },
    RESPONSE,
    { ...ATTEMPTS, optional: true },
    { ...RECEIVER, optional: true },
    { ...EVENT, optional: true },
    { ...NEXT, optional: true },
    { ...CREATED, optional: false },
  ],
  details: [ID, STATUS, TYPE, EVENT, RECEIVER_BY, NEXT, ENVIRONMENT, REPORTED_AT],
});

/** One delivery, with its attempts. */
const DELIVERY = withField(DELIVERIES.view, "attempts");

/** `service deliveries`. */
export const command: CommandDefinition = {
  name: "deliveries",
  about: "Inspect deliveries and retry them",
  examples: [
    "service deliveries list --status failed",
    `service deliveries get ${DELIVERIES.exampleId}`,
    `service deliveries retry ${DELIVERIES.exampleId}`,
  ],
  commands: [
    listVerb(DELIVERIES, {
      filters: [
        flag("--endpoint <id>", "Filter by webhook endpoint", { parse: objectId }),
        flag("--receiver <kind>", "Filter by kind of receiver", { choices: ["endpoint", "listener"] }),
        flag("--event <id>", "Filter by event", { parse: objectId }),
        flag(
          "--status <status>",
          "Filter by status; retrying: pending after a failed attempt; undelivered: pending or failed",
          {
            choices: [...statusesOf("delivery"), "retrying", "undelivered"],
          },
        ),
        flag("--code <status>", "Filter by the last response: a status, a class such as 5xx, or none"),
        ...SEARCH_FILTERS,
      ],
      examples: [
        "service deliveries list --status failed",
        "service deliveries list --event evt_4Vf8aTqz0bKm2sNw9XyRcd # Deliveries of one event",
        "service deliveries list --endpoint we_4Vf8aTqz0bKm2sNw9XyRcd --status pending --json # What one endpoint still gets",
      ],
    }),
    {
      name: "get",
      about: "Show a delivery with a timeline of its attempts",
      args: [idOperand("delivery")],
      fields: DELIVERY,
      examples: [
        `service deliveries get ${DELIVERIES.exampleId}`,
        `service deliveries get ${DELIVERIES.exampleId} --json --jq '.attempts[-1].response_excerpt' # The newest response`,
      ],
      run: runGet,
    },
    {
      name: "retry",
      about: "Retry a delivery now, or all failed deliveries",
      args: [{ arg: "[id]", about: "ID of the delivery", parse: objectId }],
      options: [
        flag("--failed", "Retry all failed deliveries to endpoints and connected listeners, in the background"),
        flag("--pending", "Retry all deliveries that wait for their next attempt, in the background", {
          conflicts: "failed",
        }),
        ...bulkFlags("deliveries", "Only deliveries to this webhook endpoint"),
        flag("--wait", "Wait for the response to the one delivery; exit 1 unless it is 2xx", {
          conflicts: ["failed", "pending"],
        }),
        IDEMPOTENCY_KEY,
      ],
      dryRun: true,
      fields: DELIVERIES.view,
      fieldsWith: BULK_FIELDS,
      examples: [
        `service deliveries retry ${DELIVERIES.exampleId} --wait # Print the result of the attempt`,
        "service deliveries retry --failed --since 1h # All that failed in the last hour",
        "service deliveries retry --failed --endpoint we_4Vf8aTqz0bKm2sNw9XyRcd # All that failed at one endpoint",
      ],
      run: runRetry,
    },
    actionVerb(DELIVERIES, {
      verb: "cancel",
      done: (id) => `Canceled delivery ${id}`,
      about: "Cancel a pending delivery",
    }),
  ],
};

/** `retry <id>`, or `retry --failed` or `--pending` for many. */
async function runRetry(
  context: Context,
  id: string | undefined,
  { wait, ...flags }: BulkFlags & { wait?: true },
): Promise<void> {
  assertOneOrMany(id, flags, {
    ofMany: flags.failed === true || flags.pending === true,
    missing: "Pass a delivery ID, or --failed",
    example: "service deliveries retry --failed --since 1h",
  });
  const path = `${DELIVERIES.path}/retry`;
  if (id === undefined) {
    const filters = { status: flags.pending === true ? ("pending" as const) : ("failed" as const) };
    await runBulk({ kind: "delivery", path, verb: "Retry", filters, flags }, context);
    return;
  }
  const { idempotencyKey } = flags;
  const delivery = await callVerb<Delivery>(context, DELIVERIES, { id, verb: "retry", idempotencyKey });
  const { output } = context;
  if (wait === undefined) {
    output.success(`Retrying delivery ${id}`);
    return await output.object(delivery, DELIVERIES.view);
  }
  const tried = await awaitAttempt(async () => {
    const now = await context.request<Delivery>({ method: "GET", path: DELIVERIES.path + apiPath`/${id}` });
    return now.attempt_count > delivery.attempt_count ? now : undefined;
  }, context);
  if (output.json || output.quiet || output.chosen) await output.object(tried ?? delivery, DELIVERIES.view);
  const { event_type: type, target } = tried ?? delivery;
  showAttempt(tried?.attempts?.at(-1), { id, type, target }, context);
}

async function runGet(context: Context, id: string): Promise<void> {
  const { output } = context;
  const delivery = await context.request<Delivery>({ method: "GET", path: DELIVERIES.path + apiPath`/${id}` });
  const drawn = !output.json && !output.quiet && !output.chosen;
  // Loaded before anything is printed; otherwise a spinner would interrupt the output.
  const isDue = drawn && output.terminal && delivery.next_attempt !== null;
  const now = isDue ? await environmentNow(context) : 0;
  await output.object(delivery, DELIVERY);
  if (!drawn) return;
  if (!output.terminal) {
    for (const [i, attempt] of (delivery.attempts ?? []).entries()) output.line(attemptRecord(attempt, i + 1));
    return;
  }
  for (const line of timelineLines(delivery, { styles: output.styles, now, width: output.width })) output.line(line);
  if (delivery.status !== "succeeded") {
    output.note(`\nRetry it now:\n  service deliveries retry ${id}`);
  }
}

/** Returns the line of one attempt in a pipe: number, time, status, duration in milliseconds, error, response. */
function attemptRecord({ at, status_code, duration_ms, error, response_excerpt }: Attempt, number: number): string {
  const texts = [error, response_excerpt].map((text) => printable(text ?? ""));
  return ["attempt", number, at, status_code ?? "", duration_ms, ...texts].join("\t");
}

/** Maximum number of lines of a response body; `--json` has all of it. */
const MAX_RESPONSE_LINES = 4;
const MIN_TEXT_WIDTH = 20;
const MAX_TEXT_WIDTH = 120;

interface TimelineOptions {
  styles: Styles;
  /** Unix milliseconds, on the clock of the delivery's environment. */
  now: number;
  width: number;
}

/** An entry of the timeline: its mark, number and first line, and the lines below. */
interface Point {
  mark: string;
  at: string;
  head: string;
  below: string[];
}

/** Renders the attempts from the first to the scheduled one, with the gaps between them. */
function timelineLines(delivery: Delivery, options: TimelineOptions): string[] {
  const { styles } = options;
  const attempts = delivery.attempts ?? [];
  const digits = String(attempts.length + 1).length;
  // Mark and number, then the rail with its text below.
  const indent = digits + 4;
  const textWidth = Math.min(MAX_TEXT_WIDTH, Math.max(MIN_TEXT_WIDTH, options.width - indent));
  const outcomeWidth = Math.max(0, ...attempts.map((attempt) => stringWidth(outcomeOf(attempt))));
  const points = attempts.map((attempt, i): Point => {
    const style = isSuccess(attempt.status_code) ? "good" : "bad";
    const outcome = outcomeOf(attempt);
    const padding = " ".repeat(outcomeWidth - stringWidth(outcome));
    const isSame = isRepeated(attempt, attempts[i - 1]);
    return {
      mark: styles[style](style === "good" ? "✓" : "✗"),
      at: attempt.at,
      head: `${styles[style](outcome)}${padding}  ${styles.dim(formatDuration(attempt.duration_ms))}`,
      below: isSame ? [styles.dim("same as above")] : textOf(attempt, textWidth, styles),
    };
  });
  const ending = endingOf(delivery, options);
  if (ending !== undefined) points.push(ending);
  const lines = points.flatMap((point, i) => {
    const { mark, at, head, below } = point;
    const next = points[i + 1];
    const rail = (next === undefined ? " " : styles.dim("│")) + " ".repeat(indent - 1);
    const number = String(i + 1).padStart(digits);
    const gap = next === undefined ? [] : [`${styles.dim("│")}  ${styles.dim(formatGap(at, next.at))}`.trimEnd()];
    return [`${mark} ${number}  ${at === "" ? "" : `${at}  `}${head}`, ...below.map((line) => rail + line), ...gap];
  });
  const title = attempts.length === 0 ? "Attempts: none yet" : "Attempts";
  return ["", styles.dim(title), ...lines];
}

/** Returns what failed, and the beginning of the response. */
function textOf(attempt: Attempt, width: number, styles: Styles): string[] {
  const explanation = explanationOf(attempt);
  const { response_excerpt: response, injected } = attempt;
  return [
    ...(injected === null ? [] : foldText(`injected by listen --chaos: ${injected}`, width, MAX_RESPONSE_LINES)),
    ...(explanation === "" ? [] : foldText(explanation, width, MAX_RESPONSE_LINES)),
    ...(response ? foldText(response, width, MAX_RESPONSE_LINES).map((line) => styles.dim(line)) : []),
  ];
}

/** A receiver that is down has the same error for days. */
function isRepeated(attempt: Attempt, before: Attempt | undefined): boolean {
  return (
    before !== undefined &&
    (attempt.error !== null || attempt.response_excerpt !== null) &&
    attempt.status_code === before.status_code &&
    attempt.error === before.error &&
    attempt.injected === before.injected &&
    attempt.response_excerpt === before.response_excerpt
  );
}

/** Renders what follows the last attempt: the scheduled one, or why there is none. */
function endingOf(delivery: Delivery, { styles, now }: TimelineOptions): Point | undefined {
  if (delivery.status === "succeeded") return undefined;
  const none = { mark: styles.dim("○"), at: "", below: [] };
  if (delivery.status === "failed") {
    const reason = delivery.endpoint === null ? "no more retries" : "failed: no more retries";
    return { ...none, mark: styles.bad("■"), head: styles.bad(reason) };
  }
  if (delivery.status === "canceled") return { ...none, head: styles.dim("canceled") };
  const { next_attempt: at } = delivery;
  if (at === null) return { ...none, head: styles.warn("paused: the endpoint is disabled") };
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  const when = seconds > 0 ? `next attempt in ${formatSpan(seconds)}` : "due now";
  return { mark: styles.accent("○"), at, head: styles.accent(when), below: [] };
}

function formatGap(from: string, to: string): string {
  if (to === "") return "";
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  return seconds < 1 ? "immediately" : `${formatSpan(seconds)} later`;
}

function outcomeOf({ status_code, error }: Attempt): string {
  return String(status_code ?? shortError(error));
}

function explanationOf({ status_code, error }: Attempt): string {
  if (error !== null) return error.replace(/^[a-z_]+: /, "");
  if (status_code !== null && status_code >= 300 && status_code < 400) return "redirects are not followed";
  return status_code === 410 ? "410 Gone: the endpoint was disabled" : "";
}
