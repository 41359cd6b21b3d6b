import type { Command, CommanderError, Option } from "commander";
import { exampleOf, pathOf } from "../command.ts";
import { UsageError } from "../errors.ts";
import type { ApiError } from "../../client/errors.ts";
import { type Field, RESOURCES } from "../../contract/resources.ts";
import { HELP_TOPICS } from "../help-layout.ts";
import { didYouMean, nearest } from "../../contract/nearest.ts";
import { shellWord } from "../../contract/shell-command.ts";
import { capitalized } from "../../contract/words.ts";

/** Rejects a flag used as the value of another flag: `--email --name Ada`. No value begins like a flag. */
export function rejectSwallowedFlags(command: Command): void {
  for (const option of command.options) {
    if (!option.required) continue;
    command.on(`option:${option.name()}`, (value: string) => {
      if (!optionsOf(command).some(({ long }) => long === value)) return;
      command.error(`error: ${needsValue(option.long!, value)}`);
    });
  }
  for (const child of command.commands) rejectSwallowedFlags(child);
}

const needsValue = (flag: string, given: string): string => `${flag} needs a value, but ${given} is a flag`;

/**
 * What other programs call a command or a flag, and what it is called here: the name of another command, or flags. With
 * its group, a name is one that this group does not have.
 */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  docs: ["open docs"],
  dashboard: ["open dashboard"],
  init: ["dev init"],
  start: ["dev", "serve"],
  forward: ["listen"],
  tunnel: ["listen"],
  replay: ["events replay"],
  resend: ["events replay", "deliveries retry"],
  retry: ["deliveries retry", "events replay"],
  update: ["customers update", "endpoints update"],
  advance: ["clock advance"],
  tail: ["events tail", "logs tail"],
  ls: ["orders list", "events list"],
  list: ["orders list", "events list"],
  get: ["api GET"],
  post: ["api POST"],
  delete: ["api DELETE"],
  test: ["trigger", "webhooks check"],
  send: ["trigger", "webhooks send"],
  auth: ["login"],
  signup: ["login"],
  requests: ["logs"],
  stripe: ["webhooks"],
  webhook_endpoints: ["endpoints"],
  "webhook-endpoints": ["endpoints"],
  "api-keys": ["keys"],
  "orders delete": ["orders cancel"],
  "orders update": ["orders complete", "orders cancel"],
  "payments delete": ["payments fail"],
  "payments cancel": ["payments fail"],
  "payments update": ["payments succeed", "payments fail"],
  "events create": ["trigger"],
  "events trigger": ["trigger"],
  "deliveries replay": ["deliveries retry", "events replay"],
  "endpoints test": ["endpoints ping"],
  "endpoints send": ["endpoints ping"],
  "endpoints update --secret": ["endpoints rotate-secret"],
  "webhooks create": ["endpoints create"],
  "webhooks list": ["endpoints list"],
  "webhooks listen": ["listen"],
  "clock set": ["clock advance"],
  "sandbox advance": ["clock advance"],
  "clock reset": ["sandbox reset"],
  "--status": ["--failed"],
  "--tail": ["logs tail", "events tail"],
  "--follow": ["logs tail", "events tail"],
  "--failed": ["--status"],
  "-d": ["-f", "--input", "--data", "--payload"],
  "--data": ["-f", "--input", "--payload"],
  "-L": ["--limit"],
  "-o": ["--json"],
  "--port": ["--forward-to"],
  "--url": ["--forward-to"],
  "--timeout": ["--within"],
  "--within": ["--timeout"],
  "--output": ["--json"],
  "--format": ["--json"],
  "--template": ["--jq"],
  "--color": ["--no-color"],
  "--colour": ["--no-color"],
};

/** Returns what a name that a command does not have probably means: flags of it, or commands within it. */
function meaningsOf(name: string, command: Command): string[] {
  const inGroup = SYNONYMS[`${pathOf(command)} ${name}`.replace(/^\w+ /, "")];
  if (inGroup !== undefined && command.parent !== null) return [...inGroup];
  if (command.parent === null && HELP_TOPICS.includes(name)) return [`help ${name}`];
  const options = optionsOf(command);
  const synonyms = (SYNONYMS[name] ?? []).filter((one) =>
    one.startsWith("-")
      ? options.some(({ short, long }) => short === one || long === one)
      : `service ${one}`.startsWith(pathOf(command)),
  );
  if (synonyms.length > 0) return synonyms;
  const field = name.replace(/^--/, "").replaceAll("-", "_");
  if (options.some(({ long }) => long === "--override") && isField(field)) return [`--override ${field}=VALUE`];
  if (!name.startsWith("-")) return nearest(name, commandNames(command));
  // Dashes occur in every flag, so they are not compared.
  const names = options.flatMap(({ long }) => long?.slice(2) ?? []);
  const typed = name.replace(/^--/, "");
  const near = [...nearest(typed, names), ...names.filter((long) => long.endsWith(`-${typed}`))];
  if (near.length > 0) return [...new Set(near)].map((long) => `--${long}`);
  // What is a flag elsewhere may be a command, or a flag of `list`.
  const { parent } = command;
  const verbs =
    parent === null
      ? []
      : nearest(typed, commandNames(parent))
          .slice(0, 1)
          .map((verb) => `${parent.name()} ${verb}`);
  const hasFlag = (child: Command) => child.name() === "list" && child.options.some(({ long }) => long === name);
  return command.commands.some(hasFlag) ? [`${command.name()} list ${name}`] : verbs;
}

const isField = (name: string): boolean =>
  Object.values(RESOURCES).some((resource) => "fields" in resource && Object.hasOwn(resource.fields, name));

function optionsOf(command: Command | null): Option[] {
  return command === null ? [] : [...command.options, ...optionsOf(command.parent)];
}

const HELP_CODES: ReadonlySet<string> = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

/** Returns true for what commander throws after printing help or the version, which is not an error. */
export function isHelpShown(error: CommanderError): boolean {
  return HELP_CODES.has(error.code);
}

/** Converts an error message of commander to a UsageError that points to the help of the intended command. */
export function usageErrorOf(error: CommanderError, program: Command, operands: readonly string[]): UsageError {
  const command = commandNamed(program, operands);
  const [, name] = /^error: unknown (?:command|option) '([^']+)'/.exec(error.message) ?? [];
  const [, value = "", choices = ""] = / '([^']*)' is invalid.*Allowed choices are (.*)\.$/.exec(error.message) ?? [];
  const meant = name === undefined ? nearest(value, choices.split(", ")) : meaningsOf(name, command);
  // What commander suggests may have nothing in common with what was typed.
  const suggestion = meant.length === 0 ? adviceOn(error, command) : `${didYouMean(meant)}\n`;
  const hint = `${suggestion}See \`${pathOf(command)} --help\`.`;
  return new UsageError(inOwnWords(error, command), { hint, cause: error });
}

/** Flags whose values are often passed as arguments, and what they are for. */
const FLAGS_OF_ARGUMENTS = [
  ["--field", "-f", "send a field of the body"],
  ["--payload", "--payload", "pass a payload"],
  ["--forward-to", "--forward-to", "forward to an address"],
  ["--query", "--query", "search"],
] as const;

/** Returns what to pass: a flag for an argument that is one too many, or a missing argument; an empty text if unknown. */
function adviceOn(error: CommanderError, command: Command): string {
  if (error.code === "commander.missingArgument") return wayToPass(command);
  const [argument = ""] = command.args.slice(command.registeredArguments.length);
  const has = (flag: string) => command.options.some(({ long }) => long === flag);
  const isMeant = (flag: string) => has(flag) && (flag !== "--field" || argument.includes("="));
  const [, flag, purpose] = FLAGS_OF_ARGUMENTS.find(([long]) => isMeant(long)) ?? [];
  if (error.code !== "commander.excessArguments" || flag === undefined) return "";
  return `To ${purpose}: ${flag} ${shellWord(argument)}\n`;
}

/** Returns how to find an ID, or else an example. */
function wayToPass(command: Command): string {
  const list = command.parent?.commands.find((sibling) => sibling.name() === "list");
  const isId = command.registeredArguments[command.args.length]?.name() === "id";
  return isId && list !== undefined ? `To list them: ${pathOf(list)}\n` : exampleOf(command);
}

/** The messages of commander, and what users read instead. */
const OWN_WORDS: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [
    /^option '(.+)' argument '(.*)' is invalid\. (.*)$/s,
    (flags = "", value = "", why = "") =>
      /^--[a-z]/.test(value) ? needsValue(longOf(flags), value) : wrongValue(longOf(flags), value, why),
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(.+)'\. (.*)$/s,
    (value = "", name = "", why = "") => wrongValue(name, value, why),
  ],
  [/^option '(.+)' argument missing$/, (flags = "") => `${longOf(flags)} needs a value`],
  [
    /^option '(.+)' cannot be used with option '(.+)'$/,
    (first = "", second = "") => `${longOf(first)} cannot be combined with ${longOf(second)}`,
  ],
];

function inOwnWords(error: CommanderError, command: Command): string {
  const message = error.message.replace(/^error: |\n\(Did you mean [^\n]+\)$/g, "");
  if (error.code === "commander.excessArguments") return excessOf(command);
  if (error.code === "commander.missingArgument") {
    const { description } = command.registeredArguments[command.args.length]!;
    return `Pass the ${description.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())}`;
  }
  const negative = /^unknown option '(-\d.*)'$/.exec(message)?.[1];
  if (negative !== undefined) {
    const [argument] = command.registeredArguments;
    return argument === undefined
      ? `Unexpected argument "${negative}"`
      : wrongValue(argument.name(), negative, "Must be positive.");
  }
  for (const [pattern, words] of OWN_WORDS) {
    const match = pattern.exec(message);
    if (match !== null) return words(...match.slice(1));
  }
  const quoted = message.replaceAll(/'([^']*)'/g, '"$1"');
  return capitalized(quoted);
}

/** A wrong value is shown up to this length. */
const MAX_SHOWN = 60;

/** Says what is wrong with the value of a flag or an argument, given a sentence that often begins with "Must be". */
function wrongValue(name: string, value: string, why: string): string {
  const choices = /^Allowed choices are (.*)\.$/.exec(why)?.[1];
  if (choices !== undefined) return `${name}: "${value}" is not one of ${choices}`;
  if (!why.startsWith("Must ")) return `${name}: ${why.replace(/\.$/, "")}`;
  const given = value === "" ? "" : `, not "${value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value}"`;
  return `${name}: m${why.slice(1).replace(/\.$/, "")}${given}`;
}

function longOf(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

function excessOf(command: Command): string {
  const count = command.registeredArguments.length;
  const expected = count === 0 ? "no arguments" : count === 1 ? "one argument" : `${count} arguments`;
  const given = command.args.slice(count).map((arg) => `"${arg}"`);
  return `Unexpected ${given.length === 1 ? "argument" : "arguments"} ${given.join(", ")}: \`${pathOf(command)}\` takes ${expected}`;
}

const FILE_ERRORS: ReadonlySet<string> = new Set(["input_file", "missing"]);

/** Adds to a usage error without advice where to read about the command, unless only a file is wrong. */
export function pointToHelp(error: unknown, command: Command): unknown {
  if (!(error instanceof UsageError) || error.hint !== undefined || FILE_ERRORS.has(error.code)) return error;
  const { message, code } = error;
  return new UsageError(message, { hint: `See \`${pathOf(command)} --help\`.`, code, cause: error });
}

/** Adds to a usage error that quotes in an argument may be its cause: some shells do not remove them. */
export function explainQuotes(error: unknown, args: readonly string[]): unknown {
  if (!(error instanceof UsageError) || !args.some((arg) => /^(--[\w-]+=)?'/.test(arg))) return error;
  const { message, hint, code } = error;
  const quotes =
    'An argument begins with a single quote, which cmd.exe does not remove. Use double quotes: --events "order.*"';
  return new UsageError(message, { hint: hint === undefined ? quotes : `${hint}\n${quotes}`, code, cause: error });
}

/** Returns the name of the flag that sets a field of the API. */
function flagFor(field: string): string {
  if (field === "created_after") return "--since";
  if (field === "created_before") return "--until";
  const named = Object.values(RESOURCES).flatMap((resource) => {
    const fields: Readonly<Record<string, Field>> = "fields" in resource ? resource.fields : {};
    return fields[field]?.flag ?? [];
  });
  return `--${(named[0] ?? field).replaceAll("_", "-")}`;
}

/** Replaces the field names in an API error by the flags that were typed. */
export function nameFlags(error: ApiError, command: Command): void {
  const { nameOf } = error;
  error.nameOf = (pointer) => {
    const [, field = "", key] = /^[/?]([^/]+)(?:\/(.+))?/.exec(pointer) ?? [];
    if (command.registeredArguments.some((argument) => argument.name() === field)) return field;
    const has = (name: string): boolean => command.options.some((option) => option.long === name);
    const long = flagFor(field);
    if (!has(long)) return has("--override") ? `--override ${nameOf(pointer)}` : nameOf(pointer);
    // An index in a list does not help the user.
    return key === undefined || /^\d+$/.test(key) ? long : `${long} ${key}`;
  };
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
