import type { Argument, Command, Option } from "commander";
import type { Page } from "../../../client/pages.ts";
import { EVENT_TYPES } from "../../../contract/event-types.ts";
import { kindsWith, pathOf, type ResourceKind, RESOURCES } from "../../../contract/resources.ts";
import { SCOPES } from "../../../contract/scopes.ts";
import {
  type CommandDefinition,
  type FlagOption,
  type CommandEntry,
  declareCommand,
  definitionOf,
  fieldNamesOf,
  ParsedCommand,
  type Suggestion,
} from "../../command.ts";
import type { Context } from "../../context.ts";
import { addGlobalOptions, type GlobalOptions } from "../../global-options.ts";
import { isAlive } from "../../settings/profiles.ts";
import { printable } from "../../terminal/printable.ts";

/** Flags that the completion scripts of the shells read after the suggestions, as a sum. */
const NO_SPACE = 2;
const NO_FILES = 4;

/** Shells insert a suggestion as it is, so suggestions that a shell would split or expand are omitted. */
const SAFE = /^[\w.:@,=/+-]+$/;

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
  let values = NOTHING;
  try {
    const visible = commands.filter(({ hidden }) => !hidden);
    values = await suggest(words.slice(0, -1), partial, visible, context);
  } catch (error) {
    // An error message in the middle of a command line does not help.
    if (context.debug) output.trace(String(error));
  }
  const { suggestions, list, files, flag = "" } = values;
  const typed = partial.slice(flag.length);
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
): Promise<Values> {
  const { command: named } = scanWords(await declare(commands), before);
  const there = context.withGlobals(globalsIn(before, context));
  const root = await declare(commands, named.name());
  const position = scanWords(root, before);
  const { command, option, more } = position;
  if (position.beyond) return FILES;
  if (option !== undefined && !(more && partial.startsWith("-"))) return await valuesOfOption(option, command, there);
  if (partial.startsWith("-") && partial.includes("=")) {
    const own = optionNamed(partial, command, root);
    const flag = partial.slice(0, partial.indexOf("=") + 1);
    return own === undefined ? NOTHING : { ...(await valuesOfOption(own, command, there)), flag };
  }
  if (partial.startsWith("-")) return { suggestions: flags(root, position) };
  const children = position.operands.length === 0 ? subcommands(command) : [];
  const index = Math.min(position.operands.length, Math.max(0, command.registeredArguments.length - 1));
  const argument = command.registeredArguments[index];
  const isOpen = argument !== undefined && (argument.variadic || index === position.operands.length);
  const values: Values = isOpen
    ? await valuesOfArgument(argument, { command, before: position.operands, partial, commands, context: there })
    : NOTHING;
  return { ...values, suggestions: [...children, ...values.suggestions] };
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
    return root.opts<GlobalOptions>();
  } catch {
    // The flag at the cursor has no value yet.
    return globals;
  }
}

/** Returns the flags that can still follow. A flag that takes a single value can occur once. */
function flags(root: Command, { command, given }: Position): Suggestion[] {
  const open = optionsOf(command, root).filter(
    (option) => !given.has(option) || (option as Partial<FlagOption>).isRepeatable,
  );
  const named = open.map(({ long, short, description }) => ({ value: long ?? short ?? "", description }));
  return [...named, { value: "--help", description: "Show help" }];
}

/** Shells pass words as they were typed. */
function unquoted(word: string): string {
  return word.replace(/^(["'])(.*?)\1?$/s, "$2");
}

/** The state after parsing the words before the cursor. */
type Position = ReturnType<typeof scanWords>;

/** Parses the words as commander would. Unknown words are skipped. */
function scanWords(root: Command, words: readonly string[]) {
  let command = root;
  /** The flag whose value is next. */
  let option: Option | undefined;
  /** True if that flag has a value already and accepts more. */
  let more = false;
  /** True after `--`: the rest belongs to another program. */
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
      if ((found.required || found.optional) && !word.includes("=")) option = found;
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

/** Values of one flag or argument. */
interface Values {
  suggestions: readonly Suggestion[];
  /** True for several, separated by commas. */
  list?: boolean;
  /** True for the shell's file completion. */
  files?: boolean;
  /** `--status=`, if the word at the cursor contains both the flag and its value. */
  flag?: string;
}

const NOTHING: Values = { suggestions: [] };
const FILES: Values = { suggestions: [], files: true };

function oneOf(values: readonly string[]): Values {
  return { suggestions: values.map((value) => ({ value, description: "" })) };
}

function someOf(values: readonly string[]): Values {
  return { ...oneOf(values), list: true };
}

/** Resources whose IDs commands and flags take. */
const LISTED = kindsWith("command").filter((kind) => "prefix" in RESOURCES[kind]);

/** Returns the values that a flag takes. */
async function valuesOfOption(option: Option, command: Command, context: Context): Promise<Values> {
  if (option.argChoices !== undefined) return oneOf(option.argChoices);
  const name = option.name();
  switch (name) {
    case "fields":
      return someOf(fieldNamesOf(command)?.fields ?? []);
    case "profile":
      return profiles(context);
    case "events":
      return someOf(EVENT_TYPES);
    case "type":
      return oneOf(EVENT_TYPES);
    case "scheme":
      return oneOf((await import("../../receivers/scheme.ts")).SCHEME_NAMES);
    case "scope":
      return someOf(SCOPES);
  }
  // `--endpoint <id>` takes the ID of a webhook endpoint.
  const kind = LISTED.find((listed) => listed === name || listed.endsWith(`_${name}`));
  if (kind !== undefined && option.flags.endsWith(" <id>")) return await newestIds(kind, context);
  return isFile(option.flags) ? FILES : NOTHING;
}

/** Where an argument is completed. */
interface Place {
  command: Command;
  before: readonly string[];
  /** The beginning of the argument. */
  partial: string;
  commands: readonly CommandEntry[];
  context: Context;
}

/** Returns the values that an argument takes, given the arguments before it. */
async function valuesOfArgument(
  argument: Argument,
  { command, before, partial, commands, context }: Place,
): Promise<Values> {
  if (argument.argChoices !== undefined) return oneOf(argument.argChoices);
  const group = command.parent?.name() ?? "";
  const name = argument.name();
  const { suggest } = definitionOf(command)?.args?.[command.registeredArguments.indexOf(argument)] ?? {};
  if (suggest !== undefined) return { suggestions: await suggest(before, context, commands) };
  switch (command.name()) {
    case "trigger":
    case "expect":
      return oneOf(EVENT_TYPES);
    case "why":
      return await newestIds(kindOfPartial(partial), context);
    case "api":
      return oneOf(name === "method" ? ["GET", "POST", "PATCH", "PUT", "DELETE"] : LISTED.map(pathOf));
  }
  if (group === "logs" && name === "id") return await newestIds("request_log", context);
  if (group === "profiles") return profiles(context);
  const kind = name === "id" ? LISTED.find((listed) => RESOURCES[listed].command.name === group) : undefined;
  if (kind !== undefined) return await newestIds(kind, context);
  return isFile(name) ? FILES : NOTHING;
}

/** Returns the kind that an ID with this beginning may have: an event unless only another kind fits. */
function kindOfPartial(partial: string): ResourceKind {
  const begins = (prefix: string): boolean => `${prefix}_`.startsWith(partial.slice(0, prefix.length + 1));
  if (begins(RESOURCES.event.prefix)) return "event";
  if (begins("req")) return "request_log";
  return LISTED.find((kind) => begins((RESOURCES[kind] as { prefix: string }).prefix)) ?? "event";
}

function profiles({ settings }: Context): Values {
  return {
    suggestions: Object.entries(settings.profiles).map(([value, { base_url }]) => ({ value, description: base_url })),
  };
}

function subcommands(command: Command): Suggestion[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => command.commands.includes(child))
    .map((child) => ({ value: child.name(), description: child.summary() || child.description() }));
}

function isFile(placeholder: string): boolean {
  return /\b(file|path|folder|env)\b/i.test(placeholder);
}

/** Timeout for a user who waits after pressing Tab. */
const SUGGEST_TIMEOUT_MILLISECONDS = 2000;
const MAX_SUGGESTED = 30;
const DESCRIPTIVE_FIELDS = ["email", "url", "type", "name", "event_type", "status"];
const MAX_DESCRIPTION_LENGTH = 60;

type Item = { id?: unknown } & Record<string, unknown>;

/** Returns the newest IDs of a kind, or nothing if they are not available quickly. */
async function newestIds(kind: ResourceKind, context: Context): Promise<Values> {
  const connection = await context.connection();
  const stored = connection.credential?.value;
  if (stored === undefined) return NOTHING;
  // Only commands renew a session, because they can wait for it.
  if (stored.type === "oauth" && !isAlive(stored, context.now())) return NOTHING;
  const key = stored.type === "oauth" ? stored.access_token : stored.api_key;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(SUGGEST_TIMEOUT_MILLISECONDS)]);
  const client = await context.clientFor(connection.baseUrl.value, key, signal);
  const newest = { method: "GET", path: pathOf(kind), query: { limit: MAX_SUGGESTED } } as const;
  const { body } = await client.request<Page<Item>>(newest);
  const suggestions = body.data.map((item) => {
    const text = DESCRIPTIVE_FIELDS.map((name) => item[name]).find((value) => typeof value === "string");
    return { value: String(item.id), description: text?.slice(0, MAX_DESCRIPTION_LENGTH) ?? "" };
  });
  return { suggestions };
}
