import type { Command } from "commander";
import type { Context } from "./context.ts";

/** A module of `commands/`. It adds its command, with its subcommands and flags, to the program. */
export interface CommandModule {
  /** `programArgs` are the arguments after `--`, for a command that runs another program. */
  register(program: Command, context: Context, programArgs?: readonly string[]): void;
}

export interface CommandEntry {
  name: string;
  group: string;
  /** Imperative, sentence case, no period. */
  summary: string;
  /** True for commands that only programs call. Help does not list them. */
  hidden?: true;
  /** True if the arguments after `--` are a program to run and its arguments. */
  runsProgram?: true;
  /** True if `--jq` selects the input of the command instead of its output. */
  jqSelects?: true;
  load(): Promise<CommandModule>;
}
