import { InvalidArgumentError } from "commander";

/** A whole number of at least `least`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(number))
      throw new InvalidArgumentError("It is a whole number.");
    if (number < least) throw new InvalidArgumentError(`It is at least ${least}.`);
    if (number > most) throw new InvalidArgumentError(`It is at most ${most}.`);
    return number;
  };
}
