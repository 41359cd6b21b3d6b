import { InvalidArgumentError } from "commander";
import type { Flag } from "../command.ts";
import { UsageError } from "../errors.ts";

/** Collects values as they are. */
export function collect(text: string, previous: string[] = []): string[] {
  return [...previous, text];
}

/** Collects values that cannot contain a comma, so several may be given at once, separated by commas. */
export function collectList(text: string, previous: string[] = []): string[] {
  return [...previous, ...text.split(",").map((value) => value.trim())];
}

/** A flag that takes a `key=value` pair and may be repeated. */
export function pairsFlag(flag: string, about: string): Flag {
  const form = /<(.+)>/.exec(flag)?.[1] ?? "key=value";
  return { flag, about: `${about} (repeatable)`, collect: collectPairs(form), default: [] };
}

export type Pair = readonly [key: string, value: string];

/** Collects pairs, split at the first `=`. The value may contain more of them, and may be empty. */
export function collectPairs(form: string): (text: string, previous?: Pair[]) => Pair[] {
  return (text, previous = []) => {
    const at = text.indexOf("=");
    if (at < 1) throw new InvalidArgumentError(`"${text}" is not in the form ${form}.`);
    return [...previous, [text.slice(0, at), text.slice(at + 1)]];
  };
}

/** Returns pairs as an object. Throws UsageError for a repeated key. */
export function objectOfPairs(pairs: readonly Pair[], flag: string): Record<string, string> {
  const usedKeys = new Set<string>();
  for (const [key] of pairs) {
    if (usedKeys.has(key)) throw new UsageError(`${flag}: "${key}" is repeated`);
    usedKeys.add(key);
  }
  return Object.fromEntries(pairs);
}
