import { capitalized, counted } from "../contract/words.ts";
import { LIMITS } from "../contract/limits.ts";
import { problemDetail } from "../contract/errors.ts";
import { isPage } from "../contract/receiver-hints.ts";

/** Stable codes of answers. Programs rely on them. */
export type FindingCode =
  | "backlog"
  | "bulk_running"
  | "clock_ahead"
  | "connection_closed"
  | "connection_refused"
  | "delivered"
  | "delivery_canceled"
  | "delivery_failed"
  | "delivery_pending"
  | "dns"
  | "endpoint_deleted"
  | "endpoint_disabled"
  | "endpoint_event"
  | "endpoint_recovered"
  | "event_damaged"
  | "interrupted"
  | "invalid_response"
  | "listener_connected"
  | "listener_disconnected"
  | "missing_scope"
  | "no_event"
  | "no_matching_event"
  | "no_receiver"
  | "not_found"
  | "not_forwarded"
  | "not_subscribed"
  | "rate_limited"
  | "receiver_error"
  | "receiver_not_found"
  | "receiver_rejected"
  | "receiver_unauthorized"
  | "redirect"
  | "request_failed"
  | "response_lost"
  | "secret_damaged"
  | "signature_rejected"
  | "target_blocked"
  | "timeout"
  | "tls"
  | "undelivered"
  | "unreachable"
  | "url_damaged";

/** What happened, and what to do about it. */
export interface Finding {
  code: FindingCode;
  /** The ID of the affected object. */
  subject: string;
  /** A sentence without its period. */
  summary: string;
  /** The evidence: the response, or the counts. */
  evidence: string | null;
  /** What to do, without a period; null if there is nothing to do. */
  action: string | null;
  /** The command for it, which works as it is. */
  fix: string | null;
}

/** Answers that report no trouble. */
const UNTROUBLED: ReadonlySet<FindingCode> = new Set([
  "bulk_running",
  "delivered",
  "delivery_pending",
  "endpoint_event",
  "endpoint_recovered",
  "listener_connected",
  "no_event",
]);

/** How advice begins if an endpoint got nothing, but nothing is wrong. */
export const NOTHING_TO_REPAIR = "Nothing to repair";

/** Returns whether an answer is the cause of trouble, not just what happened. */
export function isTrouble({ code, action }: Finding): boolean {
  return !UNTROUBLED.has(code) && action?.startsWith(NOTHING_TO_REPAIR) !== true;
}

/** Returns whether an answer only adds to the others, as a line at the end. */
export function isNote({ code }: Finding): boolean {
  return code === "clock_ahead" || code === "not_subscribed";
}

/** Causes that a response suggests, but does not prove. */
const LIKELY: ReadonlySet<FindingCode> = new Set(["backlog", "receiver_unauthorized", "signature_rejected"]);

export function isLikely({ code }: Finding): boolean {
  return LIKELY.has(code);
}

/** Returns the label of an answer. After a first one that is about several receivers, each has its own cause. */
export function labelOf(finding: Finding, first = finding): string {
  if (first !== finding && (first.code !== "undelivered" || !isTrouble(finding))) return "Also";
  if (!isTrouble(finding) || finding.code === "undelivered") return "Result";
  return isLikely(finding) ? "Likely cause" : "Cause";
}

/** Returns text as a sentence with a period. */
export function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** Writes times for a reader: in UTC in a terminal, in local time in a browser. */
export type TimeFormat = (timestamp: string) => string;

/** Returns `the only attempt`, `both attempts`, `all 12 attempts`. */
export function everyAttempt(count: number): string {
  return count === 1 ? "the only attempt" : count === 2 ? "both attempts" : `all ${counted(count, "attempt")}`;
}

/** Returns a sentence that may begin with a receiver: its own name stays as it is, `the endpoint` gets a capital. */
export function atStart(text: string): string {
  return /^(the|your) /.test(text) ? capitalized(text) : text;
}

/** Returns `1 delivery is waiting`, `2 deliveries are waiting`: for the first attempt, unless the state is another. */
export function waits(count: number, state = "waiting"): string {
  return counted(count, `delivery is ${state}`, `deliveries are ${state}`);
}

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** Returns a duration in milliseconds in its two largest units: `48 ms`, `9.8 s`, `12 min 5 s`, `2 d 3 h`. */
export function span(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 9950) return `${(milliseconds / 1000).toFixed(1)} s`;
  let rest = Math.round(milliseconds / 1000);
  const parts = UNITS.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? "" : `${count} ${unit}`;
  });
  const first = parts.findIndex((part) => part !== "");
  return parts
    .slice(first, first + 2)
    .filter(Boolean)
    .join(" ");
}

/** Returns `2 deliveries will not arrive unless you retry them`. */
export function givenUp(count: number): string {
  return `${countedFailed(count, "")}will not arrive unless you retry ${count === 1 ? "it" : "them"}`;
}

/** Returns `2 older deliveries have not arrived`. */
export function notArrived(count: number): string {
  return `${countedFailed(count, "older ")}${count === 1 ? "has" : "have"} not arrived`;
}

/** Returns `2 older deliveries `, with the space. Not more than a limit are counted. */
export function countedFailed(count: number, which: string): string {
  return count < LIMITS.maxCountedFailed
    ? `${counted(count, `${which}delivery`, `${which}deliveries`)} `
    : `1,000 or more ${which}deliveries `;
}

const MAX_QUOTE = 200;

/** Returns the title of a page, or its text. */
function textOfPage(html: string): string {
  const title = /<title[^<>]*>([^<]*)/i.exec(html)?.[1] ?? "";
  return title.trim() === "" ? html.replaceAll(/<[^<>]*>/g, " ") : title;
}

/** Returns the beginning of a body in one line, quoted unless it is JSON or contains quotes itself; empty without one. */
export function quoted(body: string | null): string {
  const whole = body ?? "";
  const text = isPage(whole) ? textOfPage(whole) : (problemDetail(whole) ?? whole);
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line === "") return "";
  const start = line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line;
  return /^[{[]|"/.test(line) ? start : `"${start}"`;
}
