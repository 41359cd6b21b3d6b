import type { Command, CommanderError } from "commander";
import { UsageError } from "./errors.ts";
import { pathOf } from "./help-layout.ts";
import { unknownFlag } from "./arguments/mistakes.ts";

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
  const [message = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = rest.join(" ").replace(/^\((.*)\)$/, "$1");
  const hint = [suggestion, help].filter((line) => line !== "").join("\n");
  return new UsageError(message.charAt(0).toUpperCase() + message.slice(1), { hint, cause: error });
}

/** Returns the deepest command that the words of the command line name. */
export function commandNamed(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word));
    if (next === undefined) break;
    command = next;
  }
  return command;
}
