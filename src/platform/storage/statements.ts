import type { SqlValue } from "./database.ts";

/** A statement in SQLite's syntax, in which every `?` takes the next value. */
export interface Translation {
  readonly sql: string;
  readonly count: number;
  /** The index of the parameter of each `?`; undefined if they are in order, once each. */
  readonly order: readonly number[] | undefined;
}

// Quoted text and comments are matched so that a dollar sign in them is skipped.
const TOKEN = /'[^']*'|"[^"]*"|--[^\n]*|\/\*[^]*?\*\/|\?|\$(\d+)/g;

/** Translates `$1`, `$2` … to `?`. Node 22 binds neither `$1` nor `?1` from a list of values. */
export function translate(sql: string): Translation {
  const order: number[] = [];
  const translated = sql.replaceAll(TOKEN, (token: string, digits: string | undefined) => {
    if (token === "?") throw new Error(`Parameters are written $1, $2 …, not "?": ${sql}`);
    if (digits === undefined) return token;
    if (Number(digits) === 0) throw new Error(`Parameters are counted from $1: ${sql}`);
    order.push(Number(digits) - 1);
    return "?";
  });
  const count = Math.max(0, ...order.map((index) => index + 1));
  const inOrder = order.length === count && order.every((index, placeholder) => index === placeholder);
  return { sql: translated, count, order: inOrder ? undefined : order };
}

/** Returns the validated values of the `?`s. Runtimes differ in what they convert silently and what they reject. */
export function arrange(translation: Translation, parameters: readonly SqlValue[]): readonly SqlValue[] {
  const { sql, count, order } = translation;
  assertParameters(sql, count, parameters);
  return order === undefined ? parameters : order.map((index) => parameters[index] ?? null);
}

/** Throws TypeError if the number of values is wrong, or a column cannot hold one of them. */
export function assertParameters(sql: string, count: number, parameters: readonly SqlValue[]): void {
  if (parameters.length !== count) {
    throw new TypeError(`The statement takes ${count} parameters and was given ${parameters.length}: ${sql}`);
  }
  for (let index = 0; index < count; index++) {
    const problem = problemOf(parameters[index]);
    if (problem !== undefined) throw new TypeError(`Parameter $${index + 1} is ${problem}: ${sql}`);
  }
}

function problemOf(value: SqlValue | undefined): string | undefined {
  if (typeof value === "string") return value.includes("\0") ? "text with a NUL character" : undefined;
  if (typeof value === "number") {
    // Written so that NaN fails it too.
    return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? undefined : `${value}, not a number within ±2^53`;
  }
  if (value === null || value instanceof Uint8Array) return undefined;
  return `of type ${typeof value}, which no column holds`;
}
