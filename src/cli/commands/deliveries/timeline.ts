import { isSuccess } from "../../../contract/is-success.ts";
import stringWidth from "string-width";
import { printable } from "../../terminal/printable.ts";
import { foldText } from "../../terminal/spans.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatDuration, formatSpan } from "../../terminal/time.ts";
import type { Attempt, Delivery } from "../../../contract/schemas/delivery.ts";

/** Maximum number of lines of a response body; `--json` has all of it. */
const MAX_RESPONSE_LINES = 4;
const MIN_TEXT_WIDTH = 20;
const MAX_TEXT_WIDTH = 120;

interface TimelineOptions {
  styles: Styles;
  /** Unix milliseconds, on the clock of the delivery's environment. */
  now: number;
  /** Width of the terminal. */
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
export function timelineLines(delivery: Delivery, options: TimelineOptions): string[] {
  const { styles } = options;
  const attempts = delivery.attempts ?? [];
  const digits = String(attempts.length + 1).length;
  // Mark and number, then the rail with its text below.
  const indent = digits + 4;
  const textWidth = Math.min(MAX_TEXT_WIDTH, Math.max(MIN_TEXT_WIDTH, options.width - indent));
  const outcomeWidth = Math.max(0, ...attempts.map((attempt) => stringWidth(outcomeOf(attempt))));
  const points = attempts.map((attempt, i) => {
    const below = isRepeated(attempt, attempts[i - 1])
      ? [styles.dim("same as above")]
      : textOf(attempt, textWidth, styles);
    return { ...pointOf(attempt, outcomeWidth, styles), below };
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

function pointOf(attempt: Attempt, outcomeWidth: number, styles: Styles): Omit<Point, "below"> {
  const style = isSuccess(attempt.status_code) ? "good" : "bad";
  const outcome = outcomeOf(attempt);
  const padding = " ".repeat(outcomeWidth - stringWidth(outcome));
  return {
    mark: styles[style](isSuccess(attempt.status_code) ? "✓" : "✗"),
    at: attempt.at,
    head: `${styles[style](outcome)}${padding}  ${styles.dim(formatDuration(attempt.duration_ms))}`,
  };
}

/** Returns what failed, and the beginning of the response. */
function textOf(attempt: Attempt, width: number, styles: Styles): string[] {
  const explanation = explanationOf(attempt);
  const { response_excerpt: response } = attempt;
  return [
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

/** Returns the status, or the code at the start of the platform's error. */
function outcomeOf({ status_code, error }: Attempt): string {
  if (status_code !== null) return String(status_code);
  return printable(/^[a-z_]+(?=: )/.exec(error ?? "")?.[0] ?? "no response");
}

function explanationOf({ status_code, error }: Attempt): string {
  if (error !== null) return error.replace(/^[a-z_]+: /, "");
  if (status_code !== null && status_code >= 300 && status_code < 400) return "redirects are not followed";
  return status_code === 410 ? "410 Gone: the endpoint was disabled" : "";
}
