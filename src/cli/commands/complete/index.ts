import type { Command, Option } from "commander";
import {
  type CommandDefinition,
  type CommandEntry,
  declareCommand,
  ParsedCommand,
  type Suggestion,
} from "../../command.ts";
import type { Context } from "../../context.ts";
import { addGlobalOptions, type GlobalOptions, readGlobalOptions } from "../../global-options.ts";
import { printable } from "../../terminal/printable.ts";
import { subcommands, type Values, valuesOfArgument, valuesOfOption } from "./sources.ts";

/** Flags that the completion scripts of the shells read after the suggestions, as a sum. */
const NO_SPACE = 2;
const NO_FILES = 4;

/** Shells insert a suggestion as it is, so suggestions that a shell would split or expand are omitted. */
const SAFE = /^[\w.:@,=/+-]+$/;

interface Completion {
  /** `--status=`, if the word at the cursor contains both the flag and its value. */
  flag: string;
  values: Values;
}

/** `service complete -- <words>`: called by the shells' scripts at each Tab. Completes the last word. */
export function completionOf(commands: readonly CommandEntry[]): CommandDefinition {
  return {
    name: "complete",
    about: "Suggest completions of the last word; called by the scripts of `service completion`",
    args: [{ arg: "[words...]" }],
    run: (context: Context, words: readonly string[]) => runComplete(words.map(unquoted), commands, context),
  };
}

async function runComplete(
  words: readonly string[],
  commands: readonly CommandEntry[],
  context: Context,
): Promise<void> {
  const { output } = context;
  const partial = words.at(-1) ?? "";
  let completion: Completion = { flag: "", values: { suggestions: [] } };
  try {
    completion = await suggest(
      words.slice(0, -1),
      partial,
      commands.filter(({ hidden }) => !hidden),
      context,
    );
  } catch (error) {
    // An error message in the middle of a command line does not help.
    if (context.debug) output.trace(String(error));
  }
  const { suggestions, list, files } = completion.values;
  const typed = partial.slice(completion.flag.length);
  const head = list ? typed.slice(0, typed.lastIndexOf(",") + 1) : "";
  const start = typed.slice(head.length);
  for (const { value, description } of suggestions) {
    if (value.startsWith(start) && SAFE.test(value)) output.line(`${head}${value}\t${printable(description)}`);
  }
  output.line(`:${(files ? 0 : NO_FILES) + (list ? NO_SPACE : 0)}`);
}

async function suggest(
  before: readonly string[],
  partial: string,
  commands: readonly CommandEntry[],
  context: Context,
): Promise<Completion> {
  const { command: named } = scanWords(await declare(commands), before);
  const there = context.withGlobals(globalsIn(before, context));
  const root = await declare(commands, named.name());
  const position = scanWords(root, before);
  const { command, option, more } = position;
  if (position.beyond) return { flag: "", values: { suggestions: [], files: true } };
  if (option !== undefined && !(more && partial.startsWith("-"))) {
    return { flag: "", values: await valuesOfOption(option, command, there) };
  }
  if (partial.startsWith("-") && partial.includes("=")) {
    const own = optionNamed(partial, command, root);
    const flag = partial.slice(0, partial.indexOf("=") + 1);
    return { flag, values: own === undefined ? { suggestions: [] } : await valuesOfOption(own, command, there) };
  }
  if (partial.startsWith("-")) return { flag: "", values: { suggestions: flags(root, position) } };
  const children = position.operands.length === 0 ? subcommands(command) : [];
  const index = Math.min(position.operands.length, Math.max(0, command.registeredArguments.length - 1));
  const argument = command.registeredArguments[index];
  const isOpen = argument !== undefined && (argument.variadic || index === position.operands.length);
  const values: Values = isOpen
    ? await valuesOfArgument(argument, { command, before: position.operands, partial, commands, context: there })
    : { suggestions: [] };
  return { flag: "", values: { ...values, suggestions: [...children, ...values.suggestions] } };
}

/** Loads the commands by name, and the named one with all its subcommands. */
async function declare(commands: readonly CommandEntry[], named?: string): Promise<Command> {
  const root = addGlobalOptions(new ParsedCommand("service"));
  for (const { name, summary, load } of commands) {
    const command = name === named ? declareCommand(root, (await load()).command) : root.command(name);
    command.summary(summary);
  }
  return root;
}

/** The flags before the cursor select the platform and profile for IDs. */
function globalsIn(before: readonly string[], { globals }: Context): GlobalOptions {
  const root = addGlobalOptions(new ParsedCommand())
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  try {
    root.parseOptions([...before]);
    return readGlobalOptions(root);
  } catch {
    // The flag at the cursor has no value yet.
    return globals;
  }
}

/** Returns the flags that can still follow. A flag that takes a single value can occur once. */
function flags(root: Command, { command, given }: Position): Suggestion[] {
  const open = optionsOf(command, root).filter((option) => !given.has(option) || mayRepeat(option));
  const help: Suggestion = { value: "--help", description: "Show help" };
  return [
    ...open.map((option) => ({ value: option.long ?? option.short ?? "", description: option.description })),
    help,
  ];
}

function mayRepeat(option: Option): boolean {
  return option.variadic || Array.isArray(option.defaultValue);
}

/** Shells pass words as they were typed. */
function unquoted(word: string): string {
  return word.replace(/^(["'])(.*?)\1?$/s, "$2");
}

/** The state after parsing the words before the cursor. */
interface Position {
  command: Command;
  /** Number of arguments that the command already has. */
  operands: readonly string[];
  /** The flag whose value is next. */
  option: Option | undefined;
  /** True if that flag has a value already and accepts more. */
  more: boolean;
  /** Flags that were given. */
  given: ReadonlySet<Option>;
  /** True after `--`: the rest belongs to another program. */
  beyond: boolean;
}

/** Parses the words as commander would. Unknown words are skipped. */
function scanWords(root: Command, words: readonly string[]): Position {
  let command = root;
  let option: Option | undefined;
  let more = false;
  let beyond = false;
  const operands: string[] = [];
  const given = new Set<Option>();
  for (const word of words) {
    if (beyond) continue;
    const isFlag = word.startsWith("-") && word !== "-";
    if (option !== undefined && !(more && isFlag)) {
      more = option.variadic;
      if (!more) option = undefined;
      continue;
    }
    option = undefined;
    more = false;
    if (word === "--") {
      beyond = true;
    } else if (isFlag) {
      const found = optionNamed(word, command, root);
      if (found === undefined) continue;
      given.add(found);
      if (takesValue(found) && !word.includes("=")) option = found;
    } else {
      const child = operands.length === 0 ? command.commands.find((candidate) => candidate.name() === word) : undefined;
      if (child === undefined) operands.push(word);
      else command = child;
    }
  }
  return { command, operands, option, more, given, beyond };
}

/** Returns the flag that a word names, alone, with `=value`, or as the last of several short ones. */
function optionNamed(word: string, command: Command, root: Command): Option | undefined {
  const [name = ""] = word.split("=", 1);
  const short = `-${name.at(-1)}`;
  return optionsOf(command, root).find(
    (option) => option.long === name || (!name.startsWith("--") && option.short === short),
  );
}

/** Returns the command's own flags, and the global ones. */
function optionsOf(command: Command, root: Command): readonly Option[] {
  const own = command === root ? [] : command.options;
  return [...own, ...root.options.filter(({ hidden }) => !hidden)];
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}
