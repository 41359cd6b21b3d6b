import { withoutCredentials } from "../../contract/credentials.ts";
import type { Activity } from "../../platform/index.ts";
import type { Styles } from "./styles.ts";

let shownSecond = -1;
let shownTime = "";

/** Returns the local time of day for a log line: `14:03:27`. Thousands of lines may share a second. */
export function clockTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== shownSecond) {
    const date = new Date(milliseconds);
    const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
    shownTime = parts.map((part) => String(part).padStart(2, "0")).join(":");
    shownSecond = second;
  }
  return shownTime;
}

/** Returns an HTTP status colored by its class. */
export function colorStatus(status: number, styles: Styles): string {
  return styles[statusStyle(status)](String(status));
}

/** Returns the style of an HTTP status, by its class. */
export function statusStyle(status: number): "good" | "warn" | "bad" {
  return status >= 500 ? "bad" : status >= 300 ? "warn" : "good";
}

/** Returns true for a successful read by this CLI, which would hide the requests of an application. */
export function isOwnRead(request: {
  client?: string | null | undefined;
  method?: string | undefined;
  status?: number | undefined;
}): boolean {
  const { client, method, status = 0 } = request;
  return client === "service-cli" && (method === "GET" || method === "HEAD") && status < 400;
}

/** Returns what the platform did as a line for a person. The ID of a request is omitted if the rest fits the width. */
export function activityLine(
  activity: Exclude<Activity, { event: "warning" }>,
  milliseconds: number,
  styles: Styles,
  width: number,
): string {
  const dim = (text: string) => styles.dim(text);
  const time = dim(clockTime(milliseconds));
  if (activity.event === "request") {
    const { method, path, status, duration_ms, request_id } = activity;
    const request = `${method.padEnd(6)} ${withoutCredentials(path)}`;
    const duration = `${duration_ms} ms`;
    const whole = `${request_id}  ${duration}`;
    const left = width - `00:00:00  000  ${request}  `.length;
    const rest = whole.length > left && duration.length <= left ? duration : whole;
    return `${time}  ${colorStatus(status, styles)}  ${request}  ${dim(rest)}`;
  }
  if (activity.event === "delivery") {
    const { status, status_code, error, event_type, event_id, endpoint, attempt, duration_ms } = activity;
    const result = status_code === null ? styles.bad("ERR") : colorStatus(status_code, styles);
    const rest = [`${duration_ms} ms`, `attempt ${attempt}`, status, event_id, error].filter(Boolean).join("  ");
    return `${time}  ${result}  ${"→".padEnd(6)} ${endpoint}  ${event_type}  ${dim(rest)}`;
  }
  const arrow = activity.state === "connected" ? "→" : "←";
  return `${time}  ${arrow} listener ${activity.state}  ${dim(activity.listener)}`;
}

/** Returns a record of the platform's log as a line for a person: what happened, why, and the other fields. */
export function logLine(message: string, { err, ...fields }: Readonly<Record<string, unknown>>): string {
  const cause = err === undefined ? "" : `: ${causeOf(err)}`;
  const details = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`);
  return withoutCredentials(`${message}${cause}${details.length === 0 ? "" : ` (${details.join(", ")})`}`);
}

/** Returns the messages of an error, as thrown or from a log, and of its causes. */
function causeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("message" in error)) return JSON.stringify(error);
  const { message, cause } = error as { message: unknown; cause?: unknown };
  return `${String(message)}${cause === undefined ? "" : `: ${causeOf(cause)}`}`;
}
