import { Command, CommanderError } from "commander";
import { COMMANDS } from "./command-table.ts";
import { Context, processSurroundings, type Surroundings } from "./context.ts";
import { addGlobalOptions, readGlobalOptions } from "./global-options.ts";
import { addExamples, formatHelp } from "./help-layout.ts";
import { refuseRepeatedOptions } from "./options.ts";
import { isHelpShown, usageErrorOf } from "./usage-error.ts";

const NAME = "service";

const EXAMPLES = [
  "service demo                                    # the whole thing, end to end",
  "service serve                                   # the platform on this machine",
  "service login                                   # sign in to it",
  "service customers create --email ada@example.com",
  "service listen --forward-to localhost:3000      # webhooks to your app",
  "service trigger order.completed                 # make one happen",
];

/** Runs one command line. Throws what the command threw; wrong usage as UsageError. */
export async function runProgram(args: readonly string[], signal: AbortSignal): Promise<void> {
  const surroundings = processSurroundings(signal);
  let program: Command | undefined;
  let operands: readonly string[] = [];
  try {
    const scan = quietly(addGlobalOptions(new Command(NAME)), surroundings);
    operands = scan.parseOptions([...args]).operands;
    const context = await Context.create(surroundings, readGlobalOptions(scan));
    program = await buildProgram(context, operands);
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (!isHelpShown(error)) throw usageErrorOf(error, program, operands);
  }
}

/**
 * The program for one command line. Every command is known by name and summary, so that the root help and suggestions
 * are whole; only the module of the one that is named is loaded and registered in full.
 */
export async function buildProgram(context: Context, operands: readonly string[]): Promise<Command> {
  const program = quietly(addGlobalOptions(new Command(NAME)), context)
    .description("Customers, orders, payments and signed webhooks from your terminal.")
    .version(context.version, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand(false)
    .configureHelp({ formatHelp: (command, helper) => formatHelp(command, helper, context.output.styles) });
  addExamples(program, EXAMPLES);
  const named = new Set(operands.slice(0, operands[0] === "help" ? 2 : 1));
  for (const entry of COMMANDS) {
    if (named.has(entry.name)) (await entry.load()).register(program, context);
    else program.command(entry.name);
    program.commands.at(-1)?.summary(entry.summary).helpGroup(entry.group);
  }
  refuseRepeatedOptions(program);
  return program;
}

/** Makes commander throw instead of ending the process. Help, asked for or not, is data; error messages are the caller's. */
function quietly(command: Command, { stdout }: Pick<Surroundings, "stdout">): Command {
  const write = (text: string): unknown => stdout.write(text);
  const width = (): number => (stdout.isTTY ? stdout.columns : 100);
  return command.exitOverride().configureOutput({
    writeOut: write,
    writeErr: write,
    outputError: () => {},
    getOutHelpWidth: width,
    getErrHelpWidth: width,
  });
}
