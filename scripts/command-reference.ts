// Prints docs/commands.md: every command with its flags, as the program itself declares them.
import type { Command, Option } from "commander";
import { declareCommand, definitionOf, ParsedCommand, pathOf } from "../src/cli/command.ts";
import { COMMANDS } from "../src/cli/command-table.ts";
import { addGlobalOptions } from "../src/cli/global-options.ts";
import { descriptionOf, fieldsOf, usageOf } from "../src/cli/help-layout.ts";
import { TOPICS } from "../src/cli/commands/help/index.ts";

const program = addGlobalOptions(new ParsedCommand("service"));
const sections: string[] = [];
const listed = COMMANDS.filter(({ hidden }) => !hidden);
for (const { load } of listed) {
  sections.push(describe(declareCommand(program, (await load()).command), 2));
}

process.stdout.write(
  `${[
    "# Commands",
    "These pages write `service`. If you installed the package in a project, type `npx service-cli` instead. Linux also has an\nunrelated system command named `service`.",
    "`service <command> --help` shows the common flags of a command; this page has all. Flags and JSON output are stable; the\nwording of human output is not.",
    listed.map(({ name, summary }) => `- [\`${name}\`](#service-${name}): ${summary}`).join("\n"),
    "## Global flags",
    flagTable(program.options.filter(({ hidden }) => !hidden)),
    "## Output and exit codes",
    "Results go to stdout; notes, questions and errors go to stderr. [Formatting](#topic-formatting) describes what a terminal, a pipe\nand `--json` get. A command exits with 0 if it succeeded, 2 if a flag or argument is wrong, and otherwise with one of these\n[exit codes](errors.md#exit-codes).",
    ...sections,
    ...Object.entries(TOPICS).map(([topic, { text }]) => `## Topic: ${topic}\n\n\`\`\`text\n${text.trim()}\n\`\`\``),
  ].join("\n\n")}\n`,
);

function describe(command: Command, level: number): string {
  const needsProgram = definitionOf(command)?.usage?.endsWith(" -- command...") ?? false;
  const operands = command.registeredArguments.map(
    (argument) =>
      `- \`${argument.name()}${argument.variadic ? "…" : ""}\`${argument.required || needsProgram ? "" : " (optional)"}: ${argument.description}`,
  );
  const parts = [
    `${"#".repeat(level)} ${pathOf(command)}`,
    command.description(),
    `\`\`\`text\n${[usageOf(command), ...(definitionOf(command)?.examples ?? []).map((example) => `  ${example}`)].join("\n")}\n\`\`\``,
    operands.join("\n"),
    flagTable(command.options.filter((option) => !option.hidden || isDeclared(option, command))),
    fieldList(fieldsOf(command)),
    ...command.commands.map((child) => describe(child, Math.min(level + 1, 4))),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** Returns true for a flag that help leaves out because few need it; false for an earlier name. */
function isDeclared(option: Option, command: Command): boolean {
  return definitionOf(command)?.options?.some(({ flag }) => flag === option.flags) === true;
}

function flagTable(options: readonly Option[]): string {
  if (options.length === 0) return "";
  const rows = options.map((option) => {
    const text = cell(descriptionOf(option)).replaceAll("<", "&lt;").replaceAll("*", "\\*");
    return `| \`${cell(option.flags)}\` | ${text} |`;
  });
  return ["| Flag | Description |", "| --- | --- |", ...rows].join("\n");
}

function fieldList(names: readonly string[]): string {
  return names.length === 0
    ? ""
    : `Fields for \`--fields\` and \`--jq\`: ${names.map((name) => `\`${name}\``).join(", ")}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
