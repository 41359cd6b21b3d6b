import { isAbsolute, join, relative } from "node:path";
import type { Argument, Command, Help, Option } from "commander";
import { COMMAND_GUIDES } from "./command-guides.ts";
import { definitionOf, fieldNamesOf, optionOf, pathOf } from "./command.ts";
import type { Styles } from "./terminal/styles.ts";
import { listed } from "../contract/words.ts";
import { commentedExample, exampleLines, wrapWords } from "./terminal/wrap.ts";

const MIN_DESCRIPTION_WIDTH = 28;
const MAX_WIDTH = 100;

/**
 * Formats the help of one command: description, examples, usage, commands by group, flags. Commander begins with usage,
 * but users copy examples.
 */
export function formatHelp(
  command: Command,
  helper: Help,
  { styles, runnable }: { styles: Styles; runnable: (text: string) => string },
): string {
  const width = Math.min(helper.helpWidth ?? 80, MAX_WIDTH);
  const isRoot = command.parent === null;
  const { examples = [], notes = "" } = definitionOf(command) ?? {};
  const sections = [
    `${paragraphs(runnable(helper.commandDescription(command)), width)}\n`,
    section("Examples", exampleSection(examples.map(runnable).map(commentedExample), width - 4)),
    section("Usage", hanging(`  ${runnable(`${usageOf(command)} `).trim()}`, width)),
    section(
      "Arguments",
      items(helper.visibleArguments(command), (argument) => [helper.argumentTerm(argument), descriptionOf(argument)]),
    ),
    // Commander's own `help` of a group would only repeat --help.
    ...grouped(
      helper.visibleCommands(command).filter((entry) => command.commands.includes(entry)),
      (entry) => entry.helpGroup() || "Commands",
    ).map(([title, commands]) =>
      section(
        title,
        items(commands, (entry) => [entry.name(), helper.subcommandDescription(entry)]),
      ),
    ),
    ...grouped(
      helper.visibleOptions(command),
      (option) => option.helpGroupHeading || (isRoot ? "Global flags" : "Flags"),
    ).map(([title, options]) =>
      section(
        title,
        items(options, (option) => [helper.optionTerm(option).replace(/^--/, "    --"), descriptionOf(option)]),
      ),
    ),
    section(
      "Fields (for --fields and --jq)",
      wrapWords(fieldsOf(command).join(", "), width - 2).flatMap((line) => (line === "" ? [] : `  ${line}`)),
    ),
    ...(notes === "" ? [] : [`${noteLines(runnable(notes.trim()), width).join("\n")}\n`]),
    paragraphs(runnable(footer(command, isRoot)), width),
  ];
  return sections.filter((text) => text !== "").join("\n");

  function section(title: string, lines: readonly string[]): string {
    return lines.length === 0 ? "" : `${styles.strong(title)}\n${lines.join("\n")}\n`;
  }

  /** Puts comments beside their examples if all have room there, or else above them. */
  function exampleSection(all: readonly ReturnType<typeof commentedExample>[], room: number): string[] {
    const column = Math.max(0, ...all.map(({ typed, comment }) => (comment === undefined ? 0 : typed.length))) + 2;
    const isBeside = all.every(({ comment = "" }) => column + comment.length <= room);
    return all.flatMap(({ typed, comment }) => {
      if (isBeside && comment !== undefined) return `  ${styles.accent("$")} ${typed.padEnd(column)}${comment}`;
      const [first, ...rest] = exampleLines(typed, room);
      const lines = [`${styles.accent("$")} ${first}`, ...rest];
      return [...(comment === undefined ? [] : wrapWords(comment, room)), ...lines].map((line) => `  ${line}`);
    });
  }

  function items<Item>(list: readonly Item[], parts: (item: Item) => [term: string, description: string]): string[] {
    const pairs = list.map(parts).map(([term, description]) => [term, runnable(description)] as const);
    return columns(pairs, width);
  }
}

/** Puts descriptions beside their terms, or below them if there is no room. */
function columns(pairs: readonly (readonly [term: string, description: string])[], width: number): string[] {
  const termWidth = Math.max(...pairs.map(([term]) => term.length));
  const available = width - termWidth - 4;
  if (available < MIN_DESCRIPTION_WIDTH) {
    return pairs.flatMap(([term, description]) => [
      `  ${term}`,
      ...wrapWords(description, width - 6).map((line) => `      ${line}`),
    ]);
  }
  return pairs.flatMap(([term, description]) =>
    wrapWords(description, available).map((line, i) =>
      `  ${(i === 0 ? term : "").padEnd(termWidth)}  ${line}`.trimEnd(),
    ),
  );
}

/** Breaks a line between words. Further lines are indented more than the first one. */
function hanging(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  const indent = /^ */.exec(line)![0];
  const further = `${indent}    `;
  return wrapWords(line.trimStart(), width - further.length).map((text, at) => (at === 0 ? indent : further) + text);
}

/** Fits notes to the width: sentences flow, and indented lines stay as they are if they fit. */
function noteLines(notes: string, width: number): string[] {
  const blocks = notes.match(/^ .*$|^$|(?:^[^ \n].*\n?)+/gm) ?? [];
  return blocks.flatMap((block) =>
    block.startsWith(" ") ? hanging(block, width) : wrapWords(block.trim().replaceAll("\n", " "), width),
  );
}

const TERM = String.raw`^ *\S.*?(?: {2,}|\n {6,})\S.*\n(?: {6,}\S.*\n)*`;

/** Fits a text to the width: its lists of terms with descriptions, and what is between them. */
export function textLines(text: string, width: number): string[] {
  return `${text}\n`.split(new RegExp(`((?:${TERM})+)`, "m")).flatMap((part, i) => {
    if (i % 2 === 0) return part === "" ? [] : noteLines(part.replace(/\n$/, ""), width);
    const rows = part.match(new RegExp(TERM, "gm"))!.map((row) => row.trim().split(/ {2,}|\n */));
    return columns(
      rows.map(([term = "", ...description]) => [term, description.join(" ")]),
      width,
    );
  });
}

/** Names the required flags, which Commander leaves out. */
export function usageOf(command: Command): string {
  const required = (definitionOf(command)?.options ?? [])
    .filter((flag) => flag.required)
    .map(({ flag }) => flag.slice(flag.indexOf("--")));
  return `${pathOf(command)} ${command.usage()}`.trim().replace("[options]", [...required, "[options]"].join(" "));
}

function paragraphs(text: string, width: number): string {
  return text
    .split("\n")
    .flatMap((paragraph) => wrapWords(paragraph, width))
    .join("\n");
}

function grouped<Entry>(entries: readonly Entry[], titleOf: (entry: Entry) => string): [string, Entry[]][] {
  const titles = [...new Set(entries.map(titleOf))];
  return titles.map((title) => [title, entries.filter((entry) => titleOf(entry) === title)]);
}

/** Returns the fields of a command's output that its help lists: for `get`, unless those of the list are the same. */
export function fieldsOf(command: Command): readonly string[] {
  const { fields = [] } = fieldNamesOf(command) ?? {};
  if (command.name() === "delete") return [];
  const list = command.name() === "get" ? command.parent?.commands.find((one) => one.name() === "list") : undefined;
  const listed = list && fieldNamesOf(list)?.fields;
  return listed?.length === fields.length ? [] : fields;
}

export function descriptionOf({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
  isRequired = false,
}: (Argument | Option) & { isRequired?: boolean }): string {
  const isShown = typeof defaultValue !== "boolean" && !(Array.isArray(defaultValue) && defaultValue.length === 0);
  const notes = [
    ...(isRequired ? ["required"] : []),
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(", ")}`]),
    ...(defaultValue === undefined || !isShown ? [] : [`default: ${defaultValueDescription ?? String(defaultValue)}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join("; ")})`;
}

export const HELP_TOPICS = "authentication, environment, exit-codes, formatting, project-file, webhooks".split(", ");

function footer(command: Command, isRoot: boolean): string {
  if (isRoot) {
    return [
      "For help on a command: service help <command>",
      `Topics: service help ${listed(HELP_TOPICS, "or")}`,
      "Guides: service open docs. API reference: service open api",
      ...(__ISSUES_URL__ === "" ? [] : [`To report an issue: ${__ISSUES_URL__}`]),
      "",
    ].join("\n");
  }
  const [, name = "", verb = ""] = pathOf(command).split(" ");
  const [, guide, anchor = ""] =
    /\(([\w-]+)\.md(#[\w-]+)?\)/.exec(COMMAND_GUIDES[`${name} ${verb}`] ?? COMMAND_GUIDES[name] ?? "") ?? [];
  const more = rareFlags(command).filter(({ hidden }) => hidden).length;
  return [
    ...(command.commands.length > 0 ? [`For help on a command: ${pathOf(command)} <command> --help`] : []),
    ...(more > 0
      ? [`For ${more} more ${more === 1 ? "flag" : "flags"}: ${pathOf(command).replace(" ", " help ")} --all`]
      : []),
    "For the global flags: service --help",
    ...(guide === undefined ? [] : [`Guide: service open docs ${guide}${anchor}`]),
    "",
  ].join("\n");
}

/** Returns the rarely used flags of a command, which its help omits. */
export function rareFlags(command: Command): Option[] {
  const rare = (definitionOf(command)?.options ?? []).filter(({ hidden }) => hidden);
  const names = new Set(rare.map((flag) => optionOf(flag).long));
  return command.options.filter(({ long }) => names.has(long));
}

/**
 * Returns the path of a guide in the package, or of their folder: from the working folder, if it is inside, to fit a
 * line. Only bundled code knows its own folder.
 */
export function guidePath(page = ""): string {
  const path = join(__dirname, "../../docs", page);
  const own = relative(process.cwd(), path);
  return own.startsWith("..") || isAbsolute(own) ? path : own;
}
