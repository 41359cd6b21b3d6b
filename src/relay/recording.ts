import { systemClock, type Clock } from "../network/clock.ts";
import type { RelayedEvent } from "./delivery.ts";
import { parseJson } from "../contract/json.ts";
import { isHeaderName, isHeaderValue } from "../contract/headers.ts";
import { headerPairs } from "./forward-headers.ts";
import { Dispatcher, type ForwardingOptions, type Signing } from "./dispatcher.ts";
import type { Report, Summary } from "./report.ts";

/** Valid in JSON strings, but the end of a line for some readers (node:readline since Node 24). */
const LINE_SEPARATORS = /[\u2028\u2029]/g;
/** Maximum number of events in memory: recordings may be larger than memory. */
const MAX_WAITING = 1_024;

export interface RecordedEvent extends RelayedEvent {
  /** When it was received, in Unix milliseconds. */
  at: number;
  /** The rule that its signature broke when it was captured. */
  invalid?: string | undefined;
}

/** A line that is not a recorded event; the message says what is wrong with it. */
export class RecordingError extends Error {
  override name = "RecordingError";
}

/** A line that is not JSON, such as one that was written in part when the process was killed. */
export class CutLineError extends RecordingError {
  override name = "CutLineError";
}

/** Returns the event as a line of a recording, without its line end. The body is a string, so that its bytes are kept. */
export function formatRecordedEvent({ at, id, type, body, bytes, headers, invalid }: RecordedEvent): string {
  const content = bytes === undefined ? { body } : { body_base64: Buffer.from(bytes).toString("base64") };
  const pairs = headers === undefined ? undefined : headerPairs(headers);
  const line = JSON.stringify({ time: new Date(at).toISOString(), id, type, invalid, headers: pairs, ...content });
  return line.replace(LINE_SEPARATORS, (character) => (character === "\u2028" ? "\\u2028" : "\\u2029"));
}

/** Parses a line of a recording; `number` counts from 1, for the message. Throws RecordingError. */
export function parseRecordedEvent(line: string, number: number): RecordedEvent {
  const value = parseJson(line);
  if (value === undefined) throw new CutLineError(`line ${number} is not JSON`);
  const {
    time,
    id,
    type,
    invalid,
    body: text,
    body_base64: encoded,
    headers: pairs,
  } = (value ?? {}) as Record<string, unknown>;
  const bytes = typeof encoded === "string" ? Buffer.from(encoded, "base64") : undefined;
  const body = bytes?.toString("utf8") ?? text;
  const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at) || typeof id !== "string" || typeof type !== "string" || typeof body !== "string") {
    throw new RecordingError(`line ${number} is not a recorded event: it needs time, id, type and body`);
  }
  const headers = pairs === undefined ? undefined : flatHeaders(pairs);
  if (pairs !== undefined && headers === undefined) {
    throw new RecordingError(`line ${number} has invalid headers: each must be a pair of a name and a value`);
  }
  return { at, id, type, body, bytes, headers, invalid: typeof invalid === "string" ? invalid : undefined };
}

/** Returns undefined unless all are valid: an invalid one would break the request. */
function flatHeaders(pairs: unknown): string[] | undefined {
  return Array.isArray(pairs) && pairs.every(isHeader) ? pairs.flat() : undefined;
}

function isHeader(pair: unknown): pair is [name: string, value: string] {
  if (!Array.isArray(pair) || pair.length !== 2) return false;
  const [name, value]: unknown[] = pair;
  return typeof name === "string" && typeof value === "string" && isHeaderName(name) && isHeaderValue(value);
}

export interface ReplayOptions extends ForwardingOptions {
  signing: Signing<RecordedEvent>;
  /** Speed as a multiple of the recording's; Infinity for no waits. */
  speed: number;
  signal: AbortSignal;
  report: (report: Report) => void;
}

/**
 * Sends the events of a recording. Resolves with the totals once all have ended, or after an abort. If
 * `events` throws, the events before it are completed first. `events` must end by itself when the signal aborts.
 */
export async function replay(
  events: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>,
  options: ReplayOptions,
): Promise<Summary> {
  const { signing, speed, signal, report, clock = systemClock } = options;
  let waiting = 0;
  let resume = () => {};
  const dispatcher = new Dispatcher<RecordedEvent>(options, signing, {
    settled: () => {
      waiting -= 1;
      resume();
    },
    report,
  });
  const waitUntil = async (isMet: () => boolean) => {
    while (!isMet() && !signal.aborted) await new Promise<void>((resolve) => (resume = resolve));
  };
  const onAbort = () => resume();
  signal.addEventListener("abort", onAbort);
  const startedAt = clock.elapsed();
  let first: number | undefined;
  const finish = async (): Promise<Summary> => {
    await waitUntil(() => waiting === 0);
    signal.removeEventListener("abort", onAbort);
    await dispatcher.windUp();
    const summary = dispatcher.close();
    report({ event: "summary", ...summary });
    return summary;
  };
  try {
    for await (const event of events) {
      first ??= event.at;
      await waitUntilDue(startedAt + (event.at - first) / speed, clock, signal);
      await waitUntil(() => waiting < MAX_WAITING);
      if (signal.aborted) break;
      report({ event: "received", id: event.id, type: event.type, body: event.body });
      if (dispatcher.add(event)) waiting += 1;
    }
  } catch (error) {
    // A file that cannot be read has nothing to sum up.
    if (first === undefined) dispatcher.close();
    else await finish();
    throw error;
  }
  return await finish();
}

async function waitUntilDue(due: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const wait = due - clock.elapsed();
  if (!(wait > 0) || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.after(wait, done);
    function done(): void {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
