import type { Command, CommanderError, Option } from "commander";
import { isRepeatable } from "../command.ts";
import { UsageError } from "../errors.ts";
import { pathOf } from "../help-layout.ts";
import { nearest } from "../../contract/nearest.ts";

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
function unknownFlag(command: Command, args: readonly string[]): { flag: string; meant: string[] } | undefined {
  const options = optionsOf(command);
  for (let at = 0; at < args.length && args[at] !== "--"; at++) {
    const [flag = "", value] = args[at]!.split("=", 2);
    const option = options.find(({ long, short }) => flag === long || flag === short);
    if (option?.required && value === undefined) at++;
    if (option !== undefined || !/^--[a-z]/.test(flag)) continue;
    return { flag, meant: nearestFlags(flag, options) };
  }
  return undefined;
}

/** The dashes are in all of them. */
function nearestFlags(flag: string, options: readonly Option[]): string[] {
  const names = options.flatMap(({ long }) => long?.slice(2) ?? []);
  return nearest(flag.replace(/^--/, ""), names).map((name) => `--${name}`);
}

function optionsOf(command: Command | null): Option[] {
  return command === null ? [] : [...command.options, ...optionsOf(command.parent)];
}

const HELP_CODES: ReadonlySet<string> = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

/** Returns true for what commander throws after printing help or the version, which is not an error. */
export function isHelpShown(error: CommanderError): boolean {
  return HELP_CODES.has(error.code);
}

/** Converts an error message of commander to a UsageError that points to the help of the intended command. */
export function usageErrorOf(
  error: CommanderError,
  program: Command,
  operands: readonly string[],
  args: readonly string[],
): UsageError {
  const command = commandNamed(program, operands);
  const help = `See \`${pathOf(command)} --help\`.`;
  // A missing flag is often there but misspelled, which commander would not say.
  const unknown = error.code === "commander.missingMandatoryOptionValue" ? unknownFlag(command, args) : undefined;
  if (unknown !== undefined) {
    const meant = unknown.meant.length === 0 ? "" : `Did you mean ${unknown.meant.join(" or ")}?\n`;
    return new UsageError(`Unknown option '${unknown.flag}'`, { hint: meant + help, cause: error });
  }
  // What commander suggests may have nothing in common with what was typed.
  const [message = "", ...rest] = error.message.replace(/^error: |\n\(Did you mean [^\n]+\)$/g, "").split("\n");
  const [, kind, name = ""] = /^unknown (command|option) '(.+)'/.exec(message) ?? [];
  const meant =
    kind === "command"
      ? nearest(name, commandNames(command))
      : kind === "option"
        ? nearestFlags(name, optionsOf(command))
        : [];
  const suggestion = meant.length === 0 ? "" : `Did you mean ${meant.join(" or ")}?`;
  const hint = [rest.join(" "), suggestion, help].filter((line) => line !== "").join("\n");
  return new UsageError(message.charAt(0).toUpperCase() + message.slice(1), { hint, cause: error });
}

/** Adds to a usage error that the quotes of an argument, which shells of other systems remove, may be its cause. */
export function explainQuotes(error: unknown, args: readonly string[]): unknown {
  if (!(error instanceof UsageError) || !args.some((arg) => /^(--[\w-]+=)?'/.test(arg))) return error;
  const { message, hint, code } = error;
  const quotes =
    'An argument begins with a single quote, which cmd.exe does not remove. Use double quotes: --events "order.*"';
  return new UsageError(message, { hint: hint === undefined ? quotes : `${hint}\n${quotes}`, code, cause: error });
}

/** Returns the names of a command's subcommands that help lists. */
export function commandNames(command: Command): string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((child) => child.name());
}

/** Returns the deepest command that the command line names. */
export function commandNamed(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word));
    if (next === undefined) break;
    command = next;
  }
  return command;
}
