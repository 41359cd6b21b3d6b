import { InvalidArgumentError, Option } from "commander";
import { UsageError } from "../errors.ts";
import { repeatable } from "./repeated.ts";

/** A flag that takes a `key=value` pair and may be repeated. */
export function pairsOption(flags: string, description: string): Option {
  const parse = (text: string, previous: Pair[] = []) => [...previous, parsePair(text)];
  return repeatable(new Option(flags, `${description} (repeatable)`), parse).default([]);
}

export type Pair = readonly [key: string, value: string];

/** Splits at the first `=`: the value may hold more of them, and may be empty. */
export function parsePair(text: string): Pair {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError(`"${text}" is not in the form key=value.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Pairs as an object; a key that stands twice is a mistake. */
export function objectOfPairs(pairs: readonly Pair[], flag: string): Record<string, string> {
  const seen = new Set<string>();
  for (const [key] of pairs) {
    if (seen.has(key)) throw new UsageError(`${flag}: "${key}" is given twice`);
    seen.add(key);
  }
  return Object.fromEntries(pairs);
}
