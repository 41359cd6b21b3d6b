import type { Argument, Command, Option } from "commander";
import { type CommandEntry, definitionOf, type Suggestion } from "../../command.ts";
import type { Context } from "../../context.ts";
import { isAlive } from "../../settings/profiles.ts";
import type { Page } from "../../../client/pages.ts";
import { EVENT_TYPES } from "../../../contract/event-types.ts";
import { kindsWith, pathOf, type ResourceKind, RESOURCES } from "../../../contract/resources.ts";
import { SCOPES } from "../../../contract/scopes.ts";

/** Values of one flag or argument. */
export interface Values {
  suggestions: readonly Suggestion[];
  /** True for several, separated by commas. */
  list?: boolean;
  /** True for the shell's file completion. */
  files?: boolean;
}

const NOTHING: Values = { suggestions: [] };
const FILES: Values = { suggestions: [], files: true };

/** Resources whose IDs commands and flags take. */
const LISTED = kindsWith("command").filter((kind) => "prefix" in RESOURCES[kind]);

/** Returns the values that a flag takes. */
export async function valuesOfOption(option: Option, command: Command, context: Context): Promise<Values> {
  if (option.argChoices !== undefined) return { suggestions: plainSuggestions(option.argChoices) };
  const name = option.name();
  if (name === "fields")
    return { suggestions: plainSuggestions(definitionOf(command)?.fields?.fields ?? []), list: true };
  if (name === "profile") return { suggestions: profiles(context) };
  if (name === "events") return { suggestions: plainSuggestions(EVENT_TYPES), list: true };
  if (name === "type") return { suggestions: plainSuggestions(EVENT_TYPES) };
  if (name === "scope") return { suggestions: plainSuggestions(SCOPES), list: true };
  // `--endpoint <id>` takes the ID of a webhook endpoint.
  const kind = LISTED.find((listed) => listed === name || listed.endsWith(`_${name}`));
  if (kind !== undefined && option.flags.endsWith(" <id>")) {
    return { suggestions: await fetchIds(pathOf(kind), context) };
  }
  return isFile(option.flags) ? FILES : NOTHING;
}

/** Returns the values that an argument takes, given the arguments before it. */
export async function valuesOfArgument(
  argument: Argument,
  {
    command,
    before,
    partial,
    commands,
    context,
  }: {
    command: Command;
    before: readonly string[];
    /** The beginning of the argument. */
    partial: string;
    commands: readonly CommandEntry[];
    context: Context;
  },
): Promise<Values> {
  if (argument.argChoices !== undefined) return { suggestions: plainSuggestions(argument.argChoices) };
  const group = command.parent?.name() ?? "";
  const name = argument.name();
  const { suggest } = definitionOf(command)?.args?.[command.registeredArguments.indexOf(argument)] ?? {};
  if (suggest !== undefined) return { suggestions: await suggest(before, context, commands) };
  if (command.name() === "trigger" || command.name() === "expect")
    return { suggestions: plainSuggestions(EVENT_TYPES) };
  if (command.name() === "why") return { suggestions: await fetchIds(pathOf(kindOfPartial(partial)), context) };
  if (group === "logs" && name === "id") return { suggestions: await fetchIds(pathOf("request_log"), context) };
  if (group === "profiles") return { suggestions: profiles(context) };
  if (command.name() === "api") {
    return {
      suggestions: plainSuggestions(name === "method" ? ["GET", "POST", "PATCH", "PUT", "DELETE"] : LISTED.map(pathOf)),
    };
  }
  const kind = name === "id" ? LISTED.find((listed) => RESOURCES[listed].command.name === group) : undefined;
  if (kind !== undefined) return { suggestions: await fetchIds(pathOf(kind), context) };
  return isFile(name) ? FILES : NOTHING;
}

/** Returns the kind that an ID with this beginning may have: an event unless only another kind fits. */
function kindOfPartial(partial: string): ResourceKind {
  const begins = (prefix: string): boolean => `${prefix}_`.startsWith(partial.slice(0, prefix.length + 1));
  if (begins(RESOURCES.event.prefix)) return "event";
  if (begins("req")) return "request_log";
  return LISTED.find((kind) => begins((RESOURCES[kind] as { prefix: string }).prefix)) ?? "event";
}

function plainSuggestions(values: readonly string[]): Suggestion[] {
  return values.map((value) => ({ value, description: "" }));
}

function profiles({ settings }: Context): Suggestion[] {
  return Object.entries(settings.profiles).map(([value, { base_url }]) => ({ value, description: base_url }));
}

/** Returns the visible subcommands of a command. */
export function subcommands(command: Command): Suggestion[] {
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
const TIMEOUT_MILLISECONDS = 2000;
const COUNT = 30;
const DESCRIPTIVE_FIELDS = ["email", "url", "type", "name", "event_type", "status"];
const MAX_DESCRIPTION_LENGTH = 60;

type Item = { id?: unknown } & Record<string, unknown>;

/** Returns the newest IDs of a list of the API, or nothing if they are not available quickly. */
async function fetchIds(path: string, context: Context): Promise<Suggestion[]> {
  const connection = await context.connection();
  const stored = connection.credential?.value;
  if (stored === undefined) return [];
  // Only commands renew a session, because they can wait for it.
  if (stored.type === "oauth" && !isAlive(stored, context.now())) return [];
  const key = stored.type === "oauth" ? stored.access_token : stored.api_key;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MILLISECONDS)]);
  const client = await context.clientFor(connection.baseUrl.value, key, signal);
  const { body } = await client.request<Page<Item>>({ method: "GET", path, query: { limit: COUNT } });
  return body.data.map((item) => ({ value: String(item.id), description: descriptionOf(item) }));
}

function descriptionOf(item: Item): string {
  const name = DESCRIPTIVE_FIELDS.find((candidate) => typeof item[candidate] === "string");
  return name === undefined ? "" : String(item[name]).slice(0, MAX_DESCRIPTION_LENGTH);
}
