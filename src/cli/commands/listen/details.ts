import { foldText } from "../../terminal/fold.ts";
import { prettyJson } from "../../terminal/json.ts";
import { printable } from "../../terminal/printable.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { colorStatus } from "../../terminal/traffic.ts";
import type { PastEvent } from "./history.ts";
import { layoutFor, replyLines } from "./layout.ts";

/** Everything about one event: payload, headers, reply. */
export function detailsOf({ id, type, body, outcome }: PastEvent, styles: Styles, width: number): string[] {
  const rule = styles.dim("─".repeat(Math.min(width - 1, 80)));
  const lines = [rule, `${styles.strong(printable(type))} ${id}`, ""];
  if (outcome !== undefined) {
    lines.push(`${styles.strong("POST")} ${outcome.url.href}`);
    for (let i = 0; i + 1 < outcome.headers.length; i += 2) {
      lines.push(`${styles.dim(`${outcome.headers[i]!}:`)} ${printable(outcome.headers[i + 1]!)}`);
    }
    lines.push("");
  }
  lines.push(payloadOf(body, styles), "");
  if (outcome === undefined) return [...lines, styles.dim("no response yet"), rule];
  const { status, failure, durationMs, reply } = outcome;
  const answer =
    status === undefined ? styles.bad(printable(failure?.message ?? "failed")) : colorStatus(status, styles);
  lines.push(`${styles.strong("Response")} ${answer} ${styles.dim(`in ${formatDuration(durationMs)}`)}`);
  const folded = replyLines(reply, { ...layoutFor(width, foldText), indent: "" });
  return [...lines, ...(folded.length === 0 ? [styles.dim("(empty)")] : folded), rule];
}

function payloadOf(body: string, styles: Styles): string {
  try {
    return prettyJson(JSON.parse(body), styles);
  } catch {
    return printable(body);
  }
}
