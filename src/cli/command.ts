import { Argument, Command, Option } from "commander";
import type { Context } from "./context.ts";
import { UsageError } from "./errors.ts";
import { dryRunOption } from "./global-options.ts";
import type { FieldNames } from "./terminal/view.ts";
import { commentedExample } from "./terminal/wrap.ts";
import { listed } from "../contract/words.ts";

/** A command: its texts for help, completion and the docs, and its implementation. */
export interface CommandDefinition {
  name: string;
  /** Earlier names. They still work, but help does not show them. */
  formerly?: readonly string[];
  /** True for a rarely used command. docs/commands.md lists it, but help does not. */
  hidden?: true;
  /** Imperative, sentence case, no period. */
  about: string;
  /** A shorter text for lists of commands (default: `about`). */
  summary?: string;
  /** Arguments as help shows them, if they cannot be derived from `args`. */
  usage?: string;
  args?: readonly Operand[];
  options?: readonly Flag[];
  /** What `--fields` accepts: without it, nothing. `any` if it depends on the response. */
  fields?: FieldNames | "any";
  /** What it accepts with a flag that changes the output, by the flag's name in camelCase. */
  fieldsWith?: Readonly<Record<string, FieldNames>>;
  /** True if the lines of `--json` are of several kinds, for which there is no `--jq`. */
  isMixed?: true;
  examples?: readonly string[];
  /** True for a command that sends requests: it supports `--dry-run`. Otherwise, what that prints instead of them. */
  dryRun?: true | string;
  /** Text at the end of its help. */
  notes?: string;
  commands?: readonly CommandDefinition[];
  /** Why it does not work in live mode, if so. */
  sandboxOnly?: string;
  /** `given` is the arguments, the flags, and the command as it was parsed. */
  run?: Run;
  /** Loads a `run` whose imports would slow down other commands. */
  load?: () => Promise<Run>;
}

type Run = (context: Context, ...given: never[]) => unknown;

export interface Operand {
  /** The argument as help shows it: `<id>`, `[path]` or `[words...]`. */
  arg: string;
  about?: string;
  parse?: (text: string) => unknown;
  default?: unknown;
  choices?: readonly string[];
  /** Returns what completion suggests, given the arguments before it. */
  suggest?: (before: readonly string[], context: Context, commands: readonly CommandEntry[]) => Suggestions;
}

/** Values with their descriptions. */
export type Suggestions = readonly Suggestion[] | Promise<readonly Suggestion[]>;

/** Text to insert, and its description. */
export interface Suggestion {
  value: string;
  description: string;
}

export interface Flag extends Pick<Operand, "parse" | "default" | "choices"> {
  /** The flag as help shows it: `-e, --events <list>`. */
  flag: string;
  about: string;
  /** Returns the values so far with another one, of a flag that may be repeated. */
  collect?: (text: string, earlier?: never) => unknown;
  /** The default as help shows it. */
  defaultText?: string;
  /** Flags that it cannot be combined with, in camelCase. */
  conflicts?: string | string[];
  required?: boolean;
  /** What a prompt asks, unless the same as `about`. */
  question?: string | undefined;
  /** True for a rarely used flag. docs/commands.md lists it, but help does not. */
  hidden?: boolean;
  /** An earlier name, `--created-after`. It still works, but help does not show it. */
  formerly?: string;
  /** The heading in help of a command with many flags (default: Flags). */
  group?: string;
}

/** Returns a flag as a command declares it: `-e, --events <list>`, what it is for, and how its value is read. */
export function flag(name: string, about: string, more: Omit<Flag, "flag" | "about"> = {}): Flag {
  return { flag: name, about, ...more };
}

/** Returns flags that help lists under a heading. */
export function inGroup(group: string, flags: readonly Flag[]): Flag[] {
  return flags.map((one) => ({ ...one, group }));
}

/** A command of the program, by name until it is needed. */
export interface CommandEntry {
  name: string;
  group: string;
  /** Imperative, sentence case, no period. */
  summary: string;
  /** True for commands that only programs call, and for those that a flag replaces. Help does not list them. */
  hidden?: true;
  /** True if the arguments after `--` are a program to run and its arguments. */
  runsProgram?: true;
  /** True if `--jq` selects the input of the command instead of its output. */
  jqSelects?: true;
  load: () => Promise<{ command: CommandDefinition }>;
}

/** A command as Commander parses it, with its definition. */
export class ParsedCommand extends Command {
  definition: CommandDefinition | undefined;
  /** The arguments after `--`, for a command that runs another program. */
  programArgs: readonly string[] = [];

  override createCommand(name?: string): ParsedCommand {
    return new ParsedCommand(name);
  }
}

/** Returns the definition of a command, which only the loaded ones have. */
export function definitionOf(command: Command): CommandDefinition | undefined {
  return (command as ParsedCommand).definition;
}

/** Returns the names that `--fields` of a command accepts, if it accepts some. */
export function fieldNamesOf(command: Command): FieldNames | undefined {
  const { fields, fieldsWith = {} } = definitionOf(command) ?? {};
  const [, names = fields] = Object.entries(fieldsWith).find(([flag]) => command.getOptionValue(flag)) ?? [];
  return names === "any" ? undefined : names;
}

interface Execution {
  /** Absent for commands that are described, but not run. */
  context?: Context | undefined;
  programArgs?: readonly string[];
  hidden?: boolean;
}

/** Declares a command, with its subcommands, to Commander. */
export function declareCommand(
  parent: ParsedCommand,
  definition: CommandDefinition,
  { context, programArgs = [], hidden = false }: Execution = {},
): ParsedCommand {
  const { name, about, summary = "", usage = "", sandboxOnly, options = [] } = definition;
  const { run, load = run && (async () => run) } = definition;
  const command = parent.command(name, { hidden }).description(about).summary(summary).usage(usage);
  Object.assign(command, { definition, programArgs });
  for (const operand of definition.args ?? []) command.addArgument(argumentOf(operand));
  for (const flag of options) {
    command.addOption(optionOf(flag).hideHelp(flag.hidden === true));
    if (flag.formerly !== undefined) command.addOption(formerOption(flag, flag.formerly));
  }
  if (definition.dryRun !== undefined)
    command.addOption(dryRunOption(definition.dryRun === true ? undefined : definition.dryRun));
  if (context?.globals.live && sandboxOnly !== undefined) {
    command.hook("preAction", () => {
      throw new UsageError(sandboxOnly, { hint: "Remove --live." });
    });
  }
  if (context !== undefined && load !== undefined) {
    command.action(async (...given: unknown[]) => {
      await provideRequired(command, options, context);
      await (
        await load()
      )(context, ...(given as never[]));
    });
  }
  const { commands: children = [] } = definition;
  const taken = new Set(children.map((child) => child.name));
  for (const child of children) {
    const others = (OTHER_NAMES[child.name] ?? []).filter((other) => !taken.has(other));
    const { hidden: isHidden = false } = child;
    declareCommand(command, child, { context, programArgs, hidden: isHidden }).aliases([
      ...(child.formerly ?? []),
      ...others,
    ]);
  }
  return command;
}

/** Names from other CLIs that users may type. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  create: ["new"],
  delete: ["rm"],
  get: ["show"],
  list: ["ls"],
  revoke: ["rm", "delete"],
  save: ["snapshot"],
  show: ["get"],
};

/** Asks for the required flags that are missing. Without a terminal, throws UsageError with all of them. */
async function provideRequired(command: ParsedCommand, flags: readonly Flag[], context: Context): Promise<void> {
  const missing = flags.filter(
    (flag) => flag.required && command.getOptionValue(optionOf(flag).attributeName()) === undefined,
  );
  if (missing.length === 0) return;
  const names = missing.map((flag) => optionOf(flag).long!);
  if (!context.interactive) {
    throw new UsageError(`${listed(names, "and")} ${names.length === 1 ? "is" : "are"} required`, {
      hint: `${exampleOf(command)}See \`${pathOf(command)} --help\`.`,
    });
  }
  const { askForFlag } = await import("./ask.ts");
  for (const flag of missing) {
    const option = optionOf(flag);
    command.setOptionValueWithSource(option.attributeName(), await askForFlag(flag, option, context), "prompt");
  }
}

/** Returns the first example of a command as a line of a hint; an empty text without one. */
export function exampleOf(command: Command): string {
  const [example] = definitionOf(command)?.examples ?? [];
  return example === undefined ? "" : `For example: ${commentedExample(example).typed}\n`;
}

/** Returns a command with its parents: `service customers list`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Returns a flag under its earlier name, which sets the same value. */
function formerOption(flag: Flag, name: string): Option {
  const { flag: flags } = flag;
  const option = optionOf({ ...flag, flag: flags.replace(/^.*(--[\w-]+)/, name) }).hideHelp();
  const key = optionOf(flag).attributeName();
  return Object.assign(option, { attributeName: () => key });
}

type Collect = (text: string, earlier: unknown) => unknown;

function argumentOf({ arg, about, parse, default: standard, choices }: Operand): Argument {
  const argument = new Argument(arg, about);
  if (choices !== undefined) argument.choices(choices);
  if (parse !== undefined) argument.argParser(parse);
  return standard === undefined ? argument : argument.default(standard);
}

/** A flag, with what Commander does not know about it. */
export interface FlagOption extends Option {
  isRequired: boolean;
  /** True if it may be given several times. */
  isRepeatable: boolean;
}

/** Returns a flag as Commander parses it. */
export function optionOf(flag: Flag): FlagOption {
  const { parse, collect, default: standard, defaultText, choices, conflicts } = flag;
  const option = new Option(flag.flag, flag.about).helpGroup(flag.group ?? "");
  if (choices !== undefined) option.choices(choices);
  if (parse !== undefined) option.argParser(parse);
  // Commander's variadic flags would also swallow the positional arguments that follow.
  if (collect !== undefined) option.argParser(collect as Collect);
  if (conflicts !== undefined) option.conflicts(conflicts);
  if (standard !== undefined) option.default(standard, defaultText);
  return Object.assign(option, { isRequired: flag.required === true, isRepeatable: collect !== undefined });
}
