/** A client whose connection can be cut: it resumes from its position, or repeats its request. */
export interface Reader {
  cut(): void;
}

/** What may be buffered for all streams, listeners and large pages of a process. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Clients that have not read everything, in the order in which they fell behind. */
const behind = new Map<Reader, number>();
let total = 0;
let onRead = () => {};

/**
 * Records how many bytes a client has not read. If they are too many for all clients together, cuts those that have been
 * behind for longest: others continue, and nothing is lost.
 */
export function recordUnread(reader: Reader, bytes: number): void {
  total += bytes - (behind.get(reader) ?? 0);
  if (bytes === 0) behind.delete(reader);
  else behind.set(reader, bytes);
  if (total <= MAX_BYTES / 2) onRead();
  for (const [oldest, held] of behind) {
    if (total <= MAX_BYTES) return;
    total -= held;
    behind.delete(oldest);
    oldest.cut();
  }
}

/** Resolves once half is free, or after this time: a client that does not read stops no other. */
export async function untilRead(milliseconds: number): Promise<void> {
  if (total <= MAX_BYTES / 2 || milliseconds <= 0) return;
  await new Promise<void>((resolve) => {
    onRead = resolve;
    setTimeout(resolve, milliseconds).unref();
  });
}
