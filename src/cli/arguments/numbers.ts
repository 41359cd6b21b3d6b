import { InvalidArgumentError } from "commander";

/** A whole number of at min `min`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(number))
      throw new InvalidArgumentError("Must be a whole number.");
    if (number < min) throw new InvalidArgumentError(`Must be at min ${min}.`);
    if (number > max) throw new InvalidArgumentError(`Must be at max ${max}.`);
    return number;
  };
}
