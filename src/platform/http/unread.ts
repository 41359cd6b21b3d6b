/** A client whose connection can be cut: it resumes from its position. */
export interface Reader {
  cut(): void;
}

/** What may be buffered for all streams and listeners of a process. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Those that have not read everything, in the order in which they began to be behind. */
const behind = new Map<Reader, number>();
let total = 0;

/**
 * Records how many bytes a client has not read. If they are too many for all clients together, cuts those that have been
 * behind for longest: others continue, and nothing is lost.
 */
export function recordUnread(reader: Reader, bytes: number): void {
  total += bytes - (behind.get(reader) ?? 0);
  if (bytes === 0) behind.delete(reader);
  else behind.set(reader, bytes);
  for (const [oldest, held] of behind) {
    if (total <= MAX_BYTES) return;
    total -= held;
    behind.delete(oldest);
    oldest.cut();
  }
}
