/** Prints a measurement. It is not asserted. */
export function figure(text: string): void {
  process.stdout.write(`      ${text}\n`);
}

/** Returns the percentile of the numbers at a fraction. */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
