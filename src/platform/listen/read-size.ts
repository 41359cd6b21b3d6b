/** The most events read from the log at once, and the bytes that they should stay below. */
const EVENTS_MOST = 128;
const READ_BYTES = 1024 * 1024;
/** What is taken for an event's size before one was seen: eight of the largest make some megabytes. */
const FIRST_GUESS_BYTES = READ_BYTES / 8;

/** What may wait for a reader that is slow; it gets more when it has taken that. */
export const BUFFERED_BYTES_MOST = 1024 * 1024;

/** How many events to read from the log at once: many small ones, few large ones. */
export class ReadSize {
  private eventBytes = FIRST_GUESS_BYTES;

  get events(): number {
    return Math.min(EVENTS_MOST, Math.max(1, Math.floor(READ_BYTES / this.eventBytes)));
  }

  /** Learns from what was read. */
  learn(events: readonly { body: string }[]): void {
    if (events.length === 0) return;
    this.eventBytes = Math.max(1, events.reduce((bytes, { body }) => bytes + body.length, 0) / events.length);
  }
}
