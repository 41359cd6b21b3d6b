import { type Command, InvalidArgumentError, type Option } from "commander";
import { nearest } from "../../contract/nearest.ts";
import { isRepeatable } from "./repeated.ts";

/**
 * Rejects a second value for a flag that takes one, because the first would be lost silently. Flags that collect values
 * may be repeated.
 */
export function rejectRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    if (isRepeatable(option) || option.isBoolean() || option.negate) continue;
    let given = 0;
    command.on(`option:${option.name()}`, () => {
      if (++given > 1) command.error(`error: option '${option.flags}' cannot be repeated; it was given ${given} times`);
    });
  }
  for (const child of command.commands) rejectRepeatedOptions(child);
}

/** Rejects a flag used as the value of another flag: `--email --name Ada`. No value begins like a flag. */
export function rejectSwallowedFlags(command: Command): void {
  for (const option of command.options) {
    if (!option.required) continue;
    command.on(`option:${option.name()}`, (value: string) => {
      if (!optionsOf(command).some(({ long }) => long === value)) return;
      command.error(`error: option '${option.flags}' needs a value, but ${value} is a flag`);
    });
  }
  for (const child of command.commands) rejectSwallowedFlags(child);
}

/** Returns the first unknown flag of a command line, with the nearest existing one. */
export function unknownFlag(command: Command, args: readonly string[]): { flag: string; meant: string[] } | undefined {
  const options = optionsOf(command);
  for (let at = 0; at < args.length && args[at] !== "--"; at++) {
    const [flag = "", value] = args[at]!.split("=", 2);
    const option = options.find(({ long, short }) => flag === long || flag === short);
    if (option?.required && value === undefined) at++;
    if (option !== undefined || !/^--[a-z]/.test(flag)) continue;
    return {
      flag,
      meant: nearest(
        flag,
        options.flatMap(({ long }) => long ?? []),
      ),
    };
  }
  return undefined;
}

/** Rejects an empty value, which an unset shell variable produces. */
export function notEmpty(text: string): string {
  if (text === "") throw new InvalidArgumentError("Must not be empty. Is the shell variable set?");
  return text;
}

function optionsOf(command: Command | null): Option[] {
  return command === null ? [] : [...command.options, ...optionsOf(command.parent)];
}
