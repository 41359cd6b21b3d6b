import type { Command, CommanderError } from "commander";
import { UsageError } from "./errors.ts";
import { pathOf } from "./help-layout.ts";

const HELP_CODES: ReadonlySet<string> = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

/** True for what commander throws after it has printed help or the version, which is no error. */
export function isHelpShown(error: CommanderError): boolean {
  return HELP_CODES.has(error.code);
}

/** Commander's complaint in the program's own form, pointing to the help of the command that was meant. */
export function usageErrorOf(error: CommanderError, program: Command, operands: readonly string[]): UsageError {
  const [message = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = rest.join(" ").replace(/^\((.*)\)$/, "$1");
  const command = pathOf(commandNamed(program, operands));
  const hint = [suggestion, `See \`${command} --help\`.`].filter((line) => line !== "").join("\n");
  return new UsageError(message.charAt(0).toUpperCase() + message.slice(1), { hint, cause: error });
}

/** The deepest command that the words of the command line lead to. */
export function commandNamed(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word));
    if (next === undefined) break;
    command = next;
  }
  return command;
}
