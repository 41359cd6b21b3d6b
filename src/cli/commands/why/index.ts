import { counted } from "../../../contract/words.ts";
import { objectId } from "../../arguments/values.ts";
import type { Explanation } from "../../explanation.ts";
import { findingLines } from "../../finding-lines.ts";
import type { CommandDefinition } from "../../command.ts";
import type { Context } from "../../context.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { shownStatus } from "../../resource/bulk.ts";
import { printable } from "../../terminal/printable.ts";
import { foldText, wrapStyled } from "../../terminal/spans.ts";
import { paint, type Styles } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { documentView } from "../../terminal/view.ts";
import { colorStatus } from "../../terminal/traffic.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Chain } from "../../../explain/chain.ts";
import { sessionsOf } from "../../../explain/listeners.ts";
import { attemptsOf, lastNumber, shortError } from "../../../explain/attempts.ts";
import { type Finding, isNote, isTrouble, labelOf, sentence } from "../../../explain/finding.ts";

const EXPLANATION = documentView<Explanation>("explanation", [
  "object",
  "id",
  "kind",
  "cause",
  "findings",
  "request",
  "subject",
  "event",
  "deliveries",
  "operation",
]);

/** `service why`. */
export const command: CommandDefinition = {
  name: "why",
  about:
    "Explain an ID: the likely cause, the command that fixes it, and the API request, object, event, deliveries and attempts",
  args: [
    {
      arg: "[id]",
      about:
        "ID of an event, delivery, request, object, endpoint, listener or bulk operation (default: the newest failure)",
      parse: objectId,
    },
  ],
  fields: EXPLANATION,
  examples: [
    "service why # What failed last",
    "service why evt_4Vf8aTqz0bKm2sNw9XyRcd # An event and its deliveries",
    "service why req_4Vf8aTqz0bKm2sNw9XyRcd # A request and the events that it caused",
    "service why dlv_4Vf8aTqz0bKm2sNw9XyRcd --json --jq .cause # Only the code of the cause",
  ],
  run: runWhy,
};

/** The CLI and the dashboard have shown the error of a read, and of an ID that does not exist. */
const NOTHING_FAILED =
  "No failed deliveries or API requests. This leaves out reads and IDs that do not exist: service logs list --status 4xx";

/** Returns the ID of what failed last, and names it on stderr; undefined if there is nothing to explain. */
async function newestId(context: Context): Promise<string | undefined> {
  const { apiOf } = await import("../../explanation.ts");
  const { newestTrouble } = await import("../../../explain/newest-failure.ts");
  const newest = await newestTrouble(apiOf(await context.client()));
  const { output } = context;
  // A program finds the ID in the explanation.
  if (newest === undefined) output.notice(NOTHING_FAILED);
  else if (!output.json) output.notice(newest.note);
  return newest?.id;
}

async function runWhy(context: Context, named: string | undefined): Promise<void> {
  const { output } = context;
  const id = named ?? (await newestId(context));
  if (id === undefined) return;
  const { explain } = await import("../../explanation.ts");
  const target = await context.projectTarget();
  const client = await context.client();
  const { chain, explanation } = await output.spinner.during(`Looking up ${id}`, () =>
    explain(client, id, { runnable: (text) => output.runnable(text), target }),
  );
  if (output.json || output.chosen) return output.object(explanation, EXPLANATION);
  if (output.quiet) return output.line(explanation.cause ?? "");
  const lines = explanationLines(chain, explanation.findings, context);
  for (const line of lines) output.line(output.runnable(line));
}

const MAX_ATTEMPTS = 5;
/** Findings after the first one that are shown whole. */
const MAX_OTHERS = 4;
const LABEL_WIDTH = 10;

/** Renders the answer, then what else is known, then the chain from the request to the responses. */
function explanationLines(chain: Chain, findings: readonly Finding[], { output }: Context): string[] {
  const { styles, terminal } = output;
  // In a pipe, a line is not broken.
  const width = terminal ? output.width : Infinity;
  const shown = (finding: Finding, label: string): string[] =>
    findingLines(finding, label, width).map((line) => paint(line, styles));
  const lines: string[] = [];
  const [cause, ...rest] = findings;
  if (cause !== undefined) lines.push(...shown(cause, labelOf(cause)));
  // A finding about the same ID needs no separate explanation.
  const isShown = ({ subject }: Finding, index: number) => index < MAX_OTHERS || subject === chain.id;
  for (const finding of rest.filter(isShown)) {
    if (!isNote(finding)) lines.push("", ...shown(finding, labelOf(finding, cause)));
  }
  const others = rest
    .filter((finding, index) => !isShown(finding, index) && isTrouble(finding))
    .map(({ subject }) => shellCommand`service why ${subject}`);
  if (others.length > 0) lines.push("", `${others.length} more:`, ...others.map((line) => `  ${styles.accent(line)}`));
  const led = chainLines(chain, styles);
  if (led.length > 0) lines.push("", ...(terminal ? led.flatMap((line) => wrapStyled(line, width, LABEL_WIDTH)) : led));
  for (const { summary } of findings.filter(isNote)) {
    lines.push("", ...foldText(sentence(summary), width, 3).map((line) => styles.dim(line)));
  }
  return lines;
}

function chainLines(chain: Chain, styles: Styles): string[] {
  const { kind, request, subject, event, otherEvents, operation, deliveries } = chain;
  const row = (label: string, ...parts: string[]) => `${styles.dim(label.padEnd(LABEL_WIDTH))}${parts.join("  ")}`;
  const lines: string[] = [];
  if (request !== undefined) {
    const { method, path, status, duration_ms: duration } = request;
    const called = `${styles.strong(method)} ${printable(path)}`;
    lines.push(row("Request", called, colorStatus(status, styles), formatDuration(duration)));
    lines.push(row("", styles.dim(printable(request.id)), styles.dim(request.created)));
  }
  if (subject !== undefined) {
    lines.push(row("Object", styles.strong(printable(subject.id)), printable(subject.status ?? "")).trimEnd());
  }
  if (operation !== undefined) {
    const { type, done, failed, total } = operation;
    const progress = `${done + failed} of ${total}, ${failed} failed`;
    lines.push(row("Operation", styles.strong(type), shownStatus(operation), progress));
  }
  if (event !== undefined) {
    lines.push(row("Event", styles.strong(printable(event.type)), printable(event.id)));
    lines.push(row("", styles.dim(event.created)));
  }
  const shown = kind === "delivery" ? deliveries.filter(({ id }) => id === chain.id) : deliveries;
  for (const delivery of shown) lines.push("", ...deliveryLines(delivery, chain, styles));
  const others = deliveries.length - shown.length;
  if (others > 0 && event !== undefined) {
    const noted = `${counted(others, "other delivery", "other deliveries")} of this event`;
    lines.push("", styles.dim(`${noted}: ${shellCommand`service why ${event.id}`}`));
  }
  if (otherEvents.length > 0) {
    lines.push("", styles.dim("Earlier events of this object"));
    for (const other of otherEvents) lines.push(`  ${printable(other.type)}  ${styles.dim(printable(other.id))}`);
  }
  return lines;
}

function deliveryLines(delivery: Delivery, chain: Chain, styles: Styles): string[] {
  const { id, status, endpoint, listener, target, next_attempt: next, attempting_since: since } = delivery;
  const attempts = attemptsOf(delivery);
  const mark = {
    succeeded: styles.good("✓"),
    failed: styles.bad("✗"),
    canceled: styles.dim("○"),
    pending: styles.warn("…"),
  }[status];
  const url = endpoint === null ? undefined : chain.endpoints.get(endpoint)?.url;
  const sessions = sessionsOf(delivery, chain);
  const to =
    endpoint === null
      ? [target, `${sessions < 2 ? "" : `${sessions} sessions of `}listener ${listener ?? ""}`]
          .filter(Boolean)
          .join(" by ")
      : (url ?? "an endpoint that was deleted");
  const due = next === null ? "" : `, next attempt ${Date.parse(next) > chain.now ? next : "due now"}`;
  const planned = since === null ? due : ", attempt in progress";
  const lines = [
    `${mark} ${styles.strong(printable(id))}  ${status}${planned}`,
    `  to ${printable(to)}${url === undefined ? "" : `  ${styles.dim(endpoint ?? "")}`}`,
  ];
  const shown = attempts.slice(-MAX_ATTEMPTS);
  const hidden = attempts.length - shown.length;
  if (hidden > 0) lines.push(styles.dim(`  … ${counted(hidden, "earlier attempt")}`));
  for (const [i, { at, status_code: code, error, duration_ms: duration, injected }] of shown.entries()) {
    const number = String(lastNumber(attempts) - shown.length + i + 1).padStart(2);
    const outcome = code === null ? styles.bad(shortError(error)) : colorStatus(code, styles);
    const fault = injected === null ? "" : `  ${printable(injected)}`;
    lines.push(`  ${number} ${styles.dim(at)}  ${outcome}  ${styles.dim(formatDuration(duration))}${fault}`);
  }
  return lines;
}
