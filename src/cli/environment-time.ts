import { ApiError } from "../client/errors.ts";
import type { Client } from "../client/http.ts";
import { pathOf } from "../contract/resources.ts";
import type { TestClock } from "../contract/schemas/test-clock.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import { secondsOf } from "./arguments/values.ts";
import type { Context } from "./context.ts";
import { formatSpan } from "./terminal/time.ts";

/** Less is within the difference between this machine's clock and the platform's. */
const MIN_NOTICED_SECONDS = 30;

/**
 * Returns the environment's time in Unix milliseconds: the test clock of a sandbox may be ahead of real time. A
 * credential that may not read the test clock gets real time.
 */
export async function environmentNow(client: Client, context: Context, isBackground = false): Promise<number> {
  const { environment } = await context.connection();
  if (environment === "live") return context.now();
  try {
    const { body } = await client.request<TestClock>({ method: "GET", path: pathOf("test_clock"), isBackground });
    return Date.parse(body.now);
  } catch (error) {
    if (error instanceof ApiError && error.code === "insufficient_scope") return context.now();
    throw error;
  }
}

/** Returns a notice that the environment's time is ahead of real time, or undefined. Shows no spinner, never rejects. */
export async function clockNotice(context: Context): Promise<string | undefined> {
  try {
    const now = await environmentNow(await context.client(), context, true);
    const seconds = Math.round((now - context.now()) / 1000);
    if (seconds < MIN_NOTICED_SECONDS) return undefined;
    return `clock +${formatSpan(seconds)}: the sandbox's time is ahead of real time. To reset it: service clock reset`;
  } catch {
    // The command reports what it cannot reach itself.
    return undefined;
  }
}

/** Returns a time of `pointInTime` as the API takes it: an age counts in the environment's time. */
export async function resolveTime(text: string, client: Client, context: Context): Promise<string> {
  const age = secondsOf(text);
  if (age === undefined) return text;
  return formatTimestamp(Math.max(0, (await environmentNow(client, context)) - age * 1000));
}
