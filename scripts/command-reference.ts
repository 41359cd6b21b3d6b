// Prints docs/commands.md: every command with its flags, as the program itself declares them.
import type { Command, Option } from "commander";
import { declareCommand, definitionOf, fieldNamesOf, ParsedCommand, pathOf } from "../src/cli/command.ts";
import { COMMAND_GUIDES } from "../src/cli/command-guides.ts";
import { COMMANDS } from "../src/cli/command-table.ts";
import { addGlobalOptions } from "../src/cli/global-options.ts";
import { descriptionOf, textLines, usageOf } from "../src/cli/help-layout.ts";
import { commentedExample } from "../src/cli/terminal/wrap.ts";
import { withCommandName } from "../src/cli/process-io.ts";
import { commandPath, operationCommand } from "../src/platform/api/docs/reference/samples.ts";
import { OPERATIONS } from "../src/contract/operations.ts";
import { TOPICS } from "../src/cli/commands/help/index.ts";
import type { Output } from "./command-outputs.ts";
import outputs from "./command-outputs.json" with { type: "json" };

const program = addGlobalOptions(new ParsedCommand("service"));
const sections: string[] = [];
const listed = COMMANDS.filter(({ hidden }) => !hidden);
for (const { name, load } of listed) {
  sections.push(describe(declareCommand(program, (await load()).command), 2, COMMAND_GUIDES[name]));
}

process.stdout.write(
  `${[
    "# Commands",
    "Copy the examples as they are printed: `npx service-cli` runs the package in your project. `npx service-cli <command> --help` shows\nthe common flags of a command, and this reference all of them. Flags and JSON output are stable; the wording of other output is not. Names of resources\nwork in the singular, too (`order list`), and the verbs `ls`, `new`, `rm` and `show` are other names of `list`, `create`, `delete` and `get`.",
    ...[...new Set(listed.map(({ group }) => group))].map((group) => {
      const commands = listed.filter((command) => command.group === group);
      const entries = commands.map(({ name, summary }) => `- [\`${name}\`](#service-${name}): ${summary}`);
      return `**${group}**\n\n${entries.join("\n")}`;
    }),
    "## Global flags",
    flagTable([
      ...program.options.filter(({ hidden }) => !hidden),
      program.createOption("-v, --version", "Print the version"),
      program.createOption("-h, --help", "Show help"),
    ]),
    "## Output and exit codes",
    "Results go to stdout; notes, questions and errors go to stderr. [Formatting](#topic-formatting) describes what a terminal, a pipe\nand `--json` get. A command exits with 0 if it succeeded, 2 if a flag, an argument or a value is invalid, whether the CLI or the\nplatform finds it (400), and otherwise with one of these [exit codes](errors.md#exit-codes): 1, for example, if an order is already\ncanceled (409).",
    "In a pipe, `listen`, `webhooks capture` and `webhooks replay` print a line for each event and each attempt: time, status, type, ID,\nmilliseconds, notes, response. Their times, and those of `--json`, are of this machine; a terminal shows the sandbox's. With a\ncommand after `--`, `listen` prints its lines on stderr, as on a terminal. Commands that print several kinds of lines reject\n`--jq`, commands without objects `--fields`, and commands that show a new secret `--quiet`.",
    ...sections,
    ...Object.entries(TOPICS).map(
      ([topic, { text }]) =>
        `### Topic: ${topic}\n\n\`\`\`text\n${textLines(inProject(text.trim()), 80).join("\n")}\n\`\`\``,
    ),
  ].join("\n\n")}\n`,
);

function describe(command: Command, level: number, guide = ""): string {
  const { usage = "" } = definitionOf(command) ?? {};
  const examples = (definitionOf(command)?.examples ?? []).map(commentedExample);
  const needsProgram = usage.endsWith(" -- command...");
  const operands = command.registeredArguments.map(
    (argument) =>
      `- \`${argument.name()}${argument.variadic ? "…" : ""}\`${argument.required || needsProgram ? "" : " (optional)"}: ${escaped(descriptionOf(argument))}`,
  );
  const output = (outputs as Readonly<Record<string, Output>>)[pathOf(command)];
  const parts = [
    `${"#".repeat(level)} ${pathOf(command)}`,
    command.description(),
    guide,
    operationsOf(pathOf(command)),
    `Usage: \`${inProject(usageOf(command))}\``,
    operands.join("\n"),
    examples.length === 0
      ? ""
      : `${examples.length === 1 ? "Example" : "Examples"}:\n\n\`\`\`sh\n${inProject(examples.map(({ typed, comment }) => (comment === undefined ? typed : `${comment}\n${typed}`)).join("\n"))}\n\`\`\``,
    output === undefined
      ? ""
      : outputOf(
          output,
          examples.map(({ typed }) => typed),
        ),
    flagTables(command.options.filter((option) => !option.hidden || isDeclared(option, command))),
    fieldList(fieldNamesOf(command)?.fields ?? []),
    ...command.commands.map((child) => describe(child, Math.min(level + 1, 4))),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** The API's operations that a command sends; on the site, they are links. */
function operationsOf(path: string): string {
  const routes = OPERATIONS.filter((operation) => {
    const { text } = operationCommand(operation) ?? {};
    return text !== undefined && commandPath(text) === path;
  }).map(({ method, path: address }) => `\`${method} ${address}\``);
  return routes.length === 0 ? "" : `API: ${routes.join(", ")}`;
}

function outputOf({ command, meanwhile, prints }: Output, examples: readonly string[]): string {
  const subject = examples.length === 1 && examples[0] === command ? "It" : `\`${command}\``;
  const other = meanwhile === undefined ? "" : `, while another terminal runs \`${meanwhile}\``;
  return inProject(`${subject} prints${other}:\n\n\`\`\`text\n${prints}\n\`\`\``);
}

/** Returns text with its commands as a reader types them who has the package in a project. */
function inProject(text: string): string {
  return withCommandName(
    text,
    "npx service-cli",
    COMMANDS.map(({ name }) => name),
  );
}

/** Returns true for a flag that help leaves out because few need it; false for an earlier name. */
function isDeclared(option: Option, command: Command): boolean {
  return definitionOf(command)?.options?.some(({ flag }) => flag === option.flags) === true;
}

/** Returns the flags in a table for each of their groups. */
function flagTables(options: readonly Option[]): string {
  const groups = [...new Set(options.map(({ helpGroupHeading = "" }) => helpGroupHeading))];
  const tables = groups.map((group) => {
    const table = flagTable(options.filter(({ helpGroupHeading = "" }) => helpGroupHeading === group));
    return groups.length === 1 ? table : `**${group === "" ? "Flags" : group}**\n\n${table}`;
  });
  return tables.join("\n\n");
}

/** Returns flags in a table, with a column for their defaults if one of them has any. */
function flagTable(options: readonly Option[]): string {
  if (options.length === 0) return "";
  const rows = options.map((option) => {
    // A default is at the end of a description, behind the choices if there are any.
    const [, text = "", end = "", usual = ""] =
      /^(.*?)(?: \(default: ([^()]*(?:\([^()]*\))?[^()]*)\)|; default: (.*)\))?$/s.exec(descriptionOf(option))!;
    return [option.flags, usual === "" ? text : `${text})`, end || usual] as const;
  });
  const hasDefaults = rows.some(([, , usual]) => usual !== "");
  const columns = hasDefaults ? ["Flag", "Description", "Default"] : ["Flag", "Description"];
  return [
    `| ${columns.join(" | ")} |`,
    `|${" --- |".repeat(columns.length)}`,
    ...rows.map(([flags, text, usual]) => {
      const cells = [
        `\`${cell(flags)}\``,
        escaped(text),
        ...(hasDefaults ? [/^[A-Z_]+$/.test(usual) ? `\`${usual}\`` : escaped(usual)] : []),
      ];
      return `| ${cells.join(" | ")} |`;
    }),
  ].join("\n");
}

function fieldList(names: readonly string[]): string {
  return names.length === 0
    ? ""
    : `Fields for \`--fields\` and \`--jq\`: ${names.map((name) => `\`${name}\``).join(", ")}`;
}

function escaped(text: string): string {
  return cell(text).replaceAll("<", "&lt;").replaceAll("*", "\\*");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
