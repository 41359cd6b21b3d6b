import type { Option } from "commander";

/**
 * Lets a flag be repeated. Commander's own variadic flags would also swallow the positional arguments that follow them.
 * `parse` takes one value and the values before it.
 */
export function repeatable<Value>(option: Option, parse: (text: string, previous?: Value[]) => Value[]): Option {
  return Object.assign(option, { isRepeatable: true }).argParser(parse);
}

export function isRepeatable(option: Option): boolean {
  return "isRepeatable" in option;
}

/** Collects values as they are. */
export function collect(text: string, previous: string[] = []): string[] {
  return [...previous, text];
}

/** Collects values that cannot contain a comma: several may be given at once, separated by commas. */
export function collectList(text: string, previous: string[] = []): string[] {
  return [...previous, ...text.split(",").map((value) => value.trim())];
}
