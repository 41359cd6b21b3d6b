/** Prints a measured figure: it is there to be read, not to be asserted. */
export function figure(text: string): void {
  process.stdout.write(`      ${text}\n`);
}

/** The value below which a part of the numbers lies. */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
