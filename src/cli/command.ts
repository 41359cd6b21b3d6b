import type { Command } from "commander";
import type { Context } from "./context.ts";

/** A module of `commands/`. It adds its command, with its subcommands and flags, to the program. */
export interface CommandModule {
  /** `programArgs` are the words after `--`, for a command that runs another program. */
  register(program: Command, context: Context, programArgs?: readonly string[]): void;
}

export interface CommandEntry {
  name: string;
  group: string;
  /** Imperative, sentence case, no period. */
  summary: string;
  /** True for commands that only programs call. Help does not list them. */
  hidden?: true;
  /** True if the words after `--` are a program to run and its arguments. */
  runsProgram?: true;
  /** True if `--jq` selects what the command works on, and not what it prints. */
  jqSelects?: true;
  load(): Promise<CommandModule>;
}
