import { listed } from "./words.ts";
const MAX_GUESSES = 3;

/**
 * Returns the probable meanings of a misspelled name, closest first: candidates that begin with it, or that differ by a
 * few edits (by default at most one per three letters, and always fewer than half of the letters).
 */
export function nearest(name: string, candidates: readonly string[], maxEdits = Math.ceil(name.length / 3)): string[] {
  const typed = name.slice(0, 64).toLowerCase();
  return [...new Set(candidates)]
    .map((candidate) => ({ candidate, distance: distanceTo(typed, candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) => distance <= maxEdits && distance < Math.max(typed.length, candidate.length) / 2,
    )
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_GUESSES)
    .map(({ candidate }) => candidate);
}

const MAX_PATH_EDITS = 3;

/**
 * Returns the probable meanings of a misspelled path, with its own IDs. The version that all paths begin with makes none of
 * them closer.
 */
export function nearestPaths(path: string, candidates: readonly string[]): string[] {
  const version = /^\/v\d+(?=\/)/.exec(path)?.[0] ?? "";
  const typed = path.split("/");
  const withIds = (candidate: string) =>
    candidate
      .split("/")
      .map((part, at) => (part.startsWith("{") ? typed[at] || part : part))
      .join("/");
  const rests = candidates.filter((one) => one.startsWith(version)).map((one) => withIds(one).slice(version.length));
  return nearest(path.slice(version.length), rests, MAX_PATH_EDITS).map((rest) => version + rest);
}

/** Returns the question after a misspelled name: `Did you mean a, b or c?` */
export function didYouMean(names: readonly string[]): string {
  return `Did you mean ${listed(names, "or")}?`;
}

function distanceTo(typed: string, candidate: string): number {
  if (typed.length >= 3 && candidate.startsWith(typed)) return 1;
  return editDistance(typed, candidate);
}

/** Counts insertions, deletions, substitutions and swaps of neighbors. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? beforePrevious[j - 2]! + 1 : Infinity;
      current.push(Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution, swap));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}
