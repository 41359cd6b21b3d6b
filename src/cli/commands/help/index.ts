import type { Command } from "commander";
import { commandNamed, commandNames } from "../../arguments/mistakes.ts";
import { TOPICS } from "./topics.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { guidePath, pathOf } from "../../help-layout.ts";
import { nearest } from "../../../contract/nearest.ts";

/** `service help [command or topic]`. */
export function register(program: Command, context: Context): void {
  program
    .command("help")
    .description(`Show help for a command or a topic: ${Object.keys(TOPICS).join(", ")}`)
    .argument("[name...]", "Command with its subcommands, or a topic")
    .action((names: readonly string[]) => runHelp(names, program, context));
}

function runHelp(names: readonly string[], program: Command, context: Context): void {
  const [name] = names;
  // `help webhooks` is a topic, `help webhooks verify` a command.
  const topic = names.length === 1 && Object.hasOwn(TOPICS, name!) ? TOPICS[name!] : undefined;
  if (topic !== undefined)
    return context.output.line(`${context.output.runnable(topic.text.trim())}\n\nGuide: ${guidePath(topic.guide)}`);
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
