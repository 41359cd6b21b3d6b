import { UsageError } from "../../errors.ts";

/** Turns a mistake in a flag's value into a usage error that names the flag. */
export function usageOf<Value>(make: () => Value, expected: new (...args: never[]) => Error, flag: string): Value {
  try {
    return make();
  } catch (error) {
    if (error instanceof expected) throw new UsageError(`${flag}: ${error.message}`, { cause: error });
    throw error;
  }
}
