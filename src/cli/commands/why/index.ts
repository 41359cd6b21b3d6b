import type { Command } from "commander";
import { objectId } from "../../arguments/values.ts";
import type { Explanation } from "./explanation.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { printable } from "../../terminal/printable.ts";
import { foldText } from "../../terminal/spans.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { colorStatus } from "../../terminal/traffic.ts";
import type { Attempt, Delivery } from "../../../contract/schemas/delivery.ts";
import type { Chain } from "../../../explain/chain.ts";
import { type Finding, isTrouble } from "../../../explain/finding.ts";

const FIELDS = {
  noun: "explanation",
  fields: ["object", "id", "kind", "cause", "findings", "request", "subject", "event", "deliveries", "operation"],
} satisfies { noun: string; fields: (keyof Explanation)[] };

/** `service why`. */
export function register(program: Command, context: Context): void {
  const why = program
    .command("why")
    .description(
      "Explain an ID: the API request, the object, the event, every delivery and attempt, the likely cause, and the command that fixes it",
    )
    .argument("<id>", "ID of an event, delivery, request, object, endpoint or bulk operation", objectId)
    .action((id: string) => runWhy(id, context));
  addExamples(addFields(why, FIELDS), [
    "service why evt_4Vf8aTqz0bKm2sNw9XyRcd",
    "service why req_4Vf8aTqz0bKm2sNw9XyRcd",
    "service why dlv_4Vf8aTqz0bKm2sNw9XyRcd --json --jq .cause",
  ]);
}

async function runWhy(id: string, context: Context): Promise<void> {
  const { output } = context;
  const { explain } = await import("./explanation.ts");
  const client = await context.client();
  const { chain, explanation } = await output.spinner.during(`Looking up ${id}`, () => explain(client, id));
  if (output.json || output.chosen) return output.document(explanation);
  if (output.quiet) return output.line(explanation.cause ?? "");
  if (!output.terminal) {
    for (const { code, subject, summary, fix } of explanation.findings) {
      output.line([code, subject, summary, fix ?? ""].map(printable).join("\t"));
    }
    return;
  }
  for (const line of explanationLines(chain, explanation.findings, context)) output.line(line);
}

const MAX_ATTEMPTS = 5;
const MAX_RESPONSE_LINES = 3;
const LABEL_WIDTH = 10;

/** Renders the chain from the request to the responses, then the likely cause and its fix. */
function explanationLines(chain: Chain, findings: readonly Finding[], { output }: Context): string[] {
  const { styles, width } = output;
  const { request, subject, event, otherEvents, operation, deliveries } = chain;
  const row = (label: string, ...parts: string[]) => `${styles.dim(label.padEnd(LABEL_WIDTH))}${parts.join("  ")}`;
  const lines: string[] = [];
  if (request !== undefined) {
    const { method, path, status, duration_ms: duration } = request;
    lines.push(
      row(
        "Request",
        `${styles.strong(method)} ${printable(path)}`,
        colorStatus(status, styles),
        formatDuration(duration),
      ),
    );
    lines.push(row("", styles.dim(printable(request.id)), styles.dim(request.created)));
  }
  if (subject !== undefined) {
    lines.push(row("Object", styles.strong(printable(subject.id)), printable(subject.status ?? "")).trimEnd());
  }
  if (operation !== undefined) {
    const { type, status, done, failed, total } = operation;
    lines.push(row("Operation", styles.strong(type), status, `${done + failed} of ${total}, ${failed} failed`));
  }
  if (event !== undefined) {
    lines.push(
      row("Event", styles.strong(printable(event.type)), printable(event.id)),
      row("", styles.dim(event.created)),
    );
  }
  for (const delivery of deliveries) lines.push("", ...deliveryLines(delivery, chain, styles, width));
  if (otherEvents.length > 0) {
    lines.push("", styles.dim("Earlier events of this object"));
    for (const other of otherEvents) lines.push(`  ${printable(other.type)}  ${styles.dim(printable(other.id))}`);
  }
  const [cause, ...rest] = findings;
  if (cause !== undefined) lines.push("", ...causeLines(cause, styles, width));
  for (const finding of rest)
    lines.push("", ...foldText(`Also: ${finding.summary}.`, width, 3), ...fixLines(finding, styles));
  return lines;
}

function causeLines(cause: Finding, styles: Styles, width: number): string[] {
  const style = isTrouble(cause) ? "warn" : "good";
  const label = isTrouble(cause) ? "Likely cause" : "Result";
  const lines = foldText(`${label}: ${cause.summary}.`, width, 6);
  return [
    ...lines.map((line, i) => (i === 0 ? line.replace(label, styles[style](label)) : line)),
    ...(cause.evidence === null ? [] : foldText(cause.evidence, width, 6).map((line) => styles.dim(line))),
    ...(cause.action === null ? [] : foldText(`${cause.action}${cause.fix === null ? "." : ":"}`, width, 3)),
    ...fixLines(cause, styles),
  ];
}

/** Commands are not wrapped, so that they can be copied. */
function fixLines({ fix }: Finding, styles: Styles): string[] {
  return fix === null ? [] : [`  ${styles.accent(printable(fix))}`];
}

function deliveryLines(delivery: Delivery, chain: Chain, styles: Styles, width: number): string[] {
  const { id, status, endpoint, listener, attempts = [], next_attempt: next } = delivery;
  const mark = {
    succeeded: styles.good("✓"),
    failed: styles.bad("✗"),
    canceled: styles.dim("○"),
    pending: styles.warn("…"),
  }[status];
  const url = endpoint === null ? undefined : chain.endpoints.get(endpoint)?.url;
  const to = endpoint === null ? `listener ${listener ?? ""}` : (url ?? "an endpoint that was deleted");
  const planned = next === null ? "" : `, next attempt ${next}`;
  const lines = [
    `${mark} ${styles.strong(printable(id))}  ${status}${planned}`,
    `  to ${printable(to)}${url === undefined ? "" : `  ${styles.dim(endpoint ?? "")}`}`,
  ];
  const shown = attempts.slice(-MAX_ATTEMPTS);
  if (shown.length < attempts.length) lines.push(styles.dim(`  … ${attempts.length - shown.length} earlier attempts`));
  for (const [i, attempt] of shown.entries()) {
    lines.push(attemptLine(attempt, attempts.length - shown.length + i + 1, styles));
    const isLast = i === shown.length - 1;
    if (isLast && status !== "succeeded" && attempt.response_excerpt !== null) {
      const body = foldText(attempt.response_excerpt, Math.max(20, width - 5), MAX_RESPONSE_LINES);
      lines.push(...body.map((line) => `     ${styles.dim(line)}`));
    }
  }
  return lines;
}

function attemptLine(
  { at, status_code: status, error, duration_ms: duration }: Attempt,
  number: number,
  styles: Styles,
): string {
  const code = /^[a-z_]+(?=: )/.exec(error ?? "")?.[0] ?? "no response";
  const outcome = status === null ? styles.bad(printable(code)) : colorStatus(status, styles);
  return `  ${String(number).padStart(2)} ${styles.dim(at)}  ${outcome}  ${styles.dim(formatDuration(duration))}`;
}
