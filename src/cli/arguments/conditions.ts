import { InvalidArgumentError } from "commander";
import { valueAt } from "../../contract/json.ts";

/** A condition on one value of an event, such as `data.object.amount=500` or `!=`. */
export interface Condition {
  /** The condition as typed. */
  text: string;
  path: string;
  isNegated: boolean;
  value: string;
}

/** Parses one value of a flag that collects conditions. */
export function parseCondition(text: string, previous: readonly Condition[] = []): Condition[] {
  const [, path, operator, value] = /^([\w-]+(?:\.[\w-]+)*)(!?=)(.*)$/s.exec(text) ?? [];
  if (path === undefined || value === undefined) {
    throw new InvalidArgumentError("Must be a path and a value, such as data.object.amount=500 or livemode!=true.");
  }
  return [...previous, { text, path, isNegated: operator === "!=", value }];
}

/** Returns true if a JSON value meets a condition. Strings are compared as they are, other values as JSON. */
export function meets(value: unknown, { path, isNegated, value: expected }: Condition): boolean {
  return (textAt(value, path) === expected) !== isNegated;
}

/** Returns the text to compare with a condition; undefined if the path does not exist. */
export function textAt(value: unknown, path: string): string | undefined {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : JSON.stringify(found);
}
