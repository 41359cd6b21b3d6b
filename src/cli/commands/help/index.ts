import type { Command } from "commander";
import { commandNamed, commandNames } from "../../arguments/mistakes.ts";
import { type CommandDefinition, type CommandEntry, pathOf, type Suggestion } from "../../command.ts";
import { TOPICS } from "./topics.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { guidePath, hanging } from "../../help-layout.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import { nearest } from "../../../contract/nearest.ts";

/** `service help [command or topic]`. */
export const command: CommandDefinition = {
  name: "help",
  about: `Show help for a command or a topic: ${Object.keys(TOPICS).join(", ")}`,
  args: [
    {
      arg: "[name...]",
      about: "Command with its subcommands, or a topic",
      suggest: (before, _context, commands) => suggestNames(before, commands),
    },
  ],
  run: (context: Context, names: readonly string[], _flags: object, help: Command) =>
    runHelp(names, help.parent!, context),
};

async function suggestNames(
  before: readonly string[],
  commands: readonly CommandEntry[],
): Promise<readonly Suggestion[]> {
  if (before.length === 0) {
    return [
      ...commands.map(({ name, summary }) => ({ value: name, description: summary })),
      ...Object.keys(TOPICS).map((value) => ({ value, description: "Topic" })),
    ];
  }
  const entry = commands.find(({ name }) => name === before[0]);
  if (before.length > 1 || entry === undefined) return [];
  const { command } = await entry.load();
  return (command.commands ?? []).map(({ name, about, summary = about }) => ({ value: name, description: summary }));
}

/** Breaks a line that is too long, between words. */
function fitted(line: string, width: number): string[] {
  return line.startsWith(" ") ? hanging(line, width) : wrapWords(line, width);
}

function runHelp(names: readonly string[], program: Command, context: Context): void {
  const [name] = names;
  // `help webhooks` is a topic, `help webhooks verify` a command.
  const topic = names.length === 1 && Object.hasOwn(TOPICS, name!) ? TOPICS[name!] : undefined;
  if (topic !== undefined) {
    const isCommand = program.commands.some((command) => command.name() === name);
    const command = isCommand ? `\nFor the command: service ${name} --help` : "";
    const text = `${topic.text.trim()}\n\nGuide: ${guidePath(topic.guide)}${command}`;
    const { output } = context;
    const lines = output.runnable(text).split("\n");
    return output.line((output.terminal ? lines.flatMap((line) => fitted(line, output.width)) : lines).join("\n"));
  }
  const command = commandNamed(program, names);
  const unknown = names.find(
    (_, depth) => commandNamed(program, names.slice(0, depth + 1)) === commandNamed(program, names.slice(0, depth)),
  );
  if (unknown !== undefined) {
    const known = [...commandNames(command), ...(command === program ? Object.keys(TOPICS) : [])];
    const near = nearest(unknown, known);
    throw new UsageError(`Unknown command or topic "${names.join(" ")}"`, {
      hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `To list them: ${pathOf(command)} --help`,
    });
  }
  command.outputHelp();
}
