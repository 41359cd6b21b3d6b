/** Idempotency keys of changes that were asked for and have no answer, by all that they ask. */
const keys = new Map<string, string>();

/** The key of a change: one that is asked for again, because its answer was lost, keeps the key that it had. */
export function keyOf(change: string): string {
  const key = keys.get(change) ?? newKey();
  keys.set(change, key);
  return key;
}

/** The answer is there: whoever asks again means another change. */
export function answered(change: string): void {
  keys.delete(change);
}

/** Not `crypto.randomUUID`, which pages that came over plain http from another machine do not have. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
