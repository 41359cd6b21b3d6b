// Prints docs/commands.md: every command with its flags, as the program itself declares them.
import { Command, type Option } from "commander";
import { COMMANDS } from "../src/cli/command-table.ts";
import { Context } from "../src/cli/context.ts";
import { addGlobalOptions, readGlobalOptions } from "../src/cli/global-options.ts";
import { examplesOf, pathOf } from "../src/cli/help-layout.ts";
import { currentProcessIo } from "../src/cli/process-io.ts";
import { TOPICS } from "../src/cli/commands/help/topics.ts";

const program = addGlobalOptions(new Command("service"));
const context = await Context.create(currentProcessIo(new AbortController()), readGlobalOptions(program));
const sections: string[] = [];
const listed = COMMANDS.filter(({ hidden }) => !hidden);
for (const entry of listed) {
  (await entry.load()).register(program, context);
  sections.push(
    describe(
      program.commands.find((command) => command.name() === entry.name)!,
      2,
    ),
  );
}

process.stdout.write(
  `${[
    "# Commands",
    "Made from the program by `npm run docs`. Flags and JSON are a contract; the wording of human output is not.",
    listed.map(({ name, summary }) => `- [\`${name}\`](#service-${name}): ${summary}`).join("\n"),
    "## Flags that every command takes",
    flagTable(program.options.filter(({ hidden }) => !hidden)),
    ...sections,
    ...Object.entries(TOPICS).map(([topic, text]) => `## Topic: ${topic}\n\n\`\`\`text\n${text.trim()}\n\`\`\``),
  ].join("\n\n")}\n`,
);

function describe(command: Command, level: number): string {
  const usage = `${pathOf(command)} ${command.usage()}`.trim();
  const operands = command.registeredArguments.map(
    (argument) =>
      `- \`${argument.name()}${argument.variadic ? "…" : ""}\`${argument.required ? "" : " (optional)"}: ${argument.description}`,
  );
  const parts = [
    `${"#".repeat(level)} ${pathOf(command)}`,
    command.description(),
    `\`\`\`sh\n${[usage, ...examplesOf(command).map((example) => `  ${example}`)].join("\n")}\n\`\`\``,
    operands.join("\n"),
    flagTable(command.options.filter(({ hidden }) => !hidden)),
    ...command.commands.map((child) => describe(child, Math.min(level + 1, 4))),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function flagTable(options: readonly Option[]): string {
  if (options.length === 0) return "";
  const rows = options.map(({ flags, description, argChoices, defaultValue, defaultValueDescription, envVar }) => {
    const notes = [
      argChoices === undefined ? "" : `one of ${argChoices.join(", ")}`,
      isTelling(defaultValue) ? `default ${defaultValueDescription ?? JSON.stringify(defaultValue)}` : "",
      envVar === undefined ? "" : `environment ${envVar}`,
    ].filter((note) => note !== "");
    const text = notes.length === 0 ? description : `${description} (${notes.join("; ")})`;
    return `| \`${cell(flags)}\` | ${cell(text).replaceAll("<", "&lt;").replaceAll("*", "\\*")} |`;
  });
  return ["| Flag | Does |", "| --- | --- |", ...rows].join("\n");
}

function isTelling(value: unknown): boolean {
  return value !== undefined && value !== true && value !== false && !(Array.isArray(value) && value.length === 0);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
