import type { RelayedEvent } from "./delivery.ts";

/** Characters that are valid in JSON strings, but end a line for some readers (node:readline since Node 24). */
const LINE_SEPARATORS = /[\u2028\u2029]/g;

/** One event of a recording: its exact body, and when it came, Unix milliseconds. */
export interface RecordedEvent extends RelayedEvent {
  at: number;
}

/** A line that is no recorded event; the message says what is wrong with it. */
export class RecordingError extends Error {
  override name = "RecordingError";
}

/** Returns the event as a line of a recording, without its line end. The body is a string, so that its bytes are kept. */
export function formatRecordedEvent({ at, id, type, body }: RecordedEvent): string {
  const line = JSON.stringify({ time: new Date(at).toISOString(), id, type, body });
  return line.replace(LINE_SEPARATORS, (character) => (character === "\u2028" ? "\\u2028" : "\\u2029"));
}

/** Reads a line of a recording; `number` counts from 1, for the message. Throws RecordingError. */
export function parseRecordedEvent(line: string, number: number): RecordedEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new RecordingError(`line ${number} is not JSON`);
  }
  const { time, id, type, body } = (value ?? {}) as Record<string, unknown>;
  const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at) || typeof id !== "string" || typeof type !== "string" || typeof body !== "string") {
    throw new RecordingError(`line ${number} is no recorded event: it needs time, id, type and body`);
  }
  return { at, id, type, body };
}
