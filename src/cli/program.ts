import { Command, CommanderError } from "commander";
import { COMMANDS } from "./command-table.ts";
import { Context } from "./context.ts";
import { refuseDryRun } from "./dry-run.ts";
import { addGlobalOptions, readGlobalOptions } from "./global-options.ts";
import { addExamples, formatHelp } from "./help-layout.ts";
import { refuseSwallowedFlags } from "./arguments/mistakes.ts";
import { refuseRepeatedOptions } from "./arguments/mistakes.ts";
import { checkOutputFlags } from "./output-flags.ts";
import type { Surroundings } from "./surroundings.ts";
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
export async function runProgram(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const program = quietly(addGlobalOptions(new Command(NAME)), surroundings);
  let operands: readonly string[] = [];
  try {
    // Reads the global flags and finds the command before anything of it is loaded.
    operands = program.parseOptions([...args]).operands;
    const context = await Context.create(surroundings, readGlobalOptions(program));
    const [own, behind] = splitAtProgram(args, operands);
    await declare(program, context, operands, behind);
    await program.parseAsync([...own], { from: "user" });
    await tellOfUpdate(context);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (!isHelpShown(error)) throw usageErrorOf(error, program, operands, args);
  }
}

/** Our own words, and those of the program that stands behind `--`. */
function splitAtProgram(
  args: readonly string[],
  [name]: readonly string[],
): [own: readonly string[], behind: readonly string[]] {
  const at = args.indexOf("--");
  const { runsProgram } = COMMANDS.find((entry) => entry.name === name) ?? {};
  return at < 0 || !runsProgram ? [args, []] : [args.slice(0, at), args.slice(at + 1)];
}

/** Only for a person who watches, and never from a script. */
async function tellOfUpdate(context: Context): Promise<void> {
  const { env, output, stderr } = context;
  if (!stderr.isTTY || output.json || output.quiet || env["CI"] || env["SERVICE_NO_UPDATE_NOTIFIER"]) return;
  const { tellOfUpdate: tell } = await import("./update/notice.ts");
  tell(context);
}

/**
 * Declares every command by name and summary, so that the root help and suggestions are whole; only the module of the
 * one that is named is loaded and registered in full.
 */
async function declare(
  program: Command,
  context: Context,
  operands: readonly string[],
  behind: readonly string[],
): Promise<void> {
  program
    .description("Customers, orders, payments and signed webhooks from your terminal.")
    .version(context.version, "-v, --version", "Print the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand(false)
    .configureHelp({ formatHelp: (command, helper) => formatHelp(command, helper, context.output.styles) });
  if (context.globals.dryRun) program.hook("preAction", (_program, action) => refuseDryRun(action));
  program.hook("preAction", (_program, action) => checkOutputFlags(action, context.globals));
  addExamples(program, EXAMPLES);
  const named = new Set(operands.slice(0, operands[0] === "help" ? 2 : 1));
  for (const entry of COMMANDS) {
    if (named.has(entry.name)) (await entry.load()).register(program, context, behind);
    else program.command(entry.name, { hidden: entry.hidden ?? false });
    program.commands.at(-1)?.summary(entry.summary).helpGroup(entry.group);
  }
  refuseRepeatedOptions(program);
  refuseSwallowedFlags(program);
}

/** Makes commander throw instead of ending the process. Help, asked for or not, is data; error messages are the caller's. */
function quietly(command: Command, { stdout }: Pick<Surroundings, "stdout">): Command {
  const write = (text: string): void => stdout.write(text);
  const width = (): number => stdout.columns ?? 100;
  return command.exitOverride().configureOutput({
    writeOut: write,
    writeErr: write,
    outputError: () => {},
    getOutHelpWidth: width,
    getErrHelpWidth: width,
    // Commander would look at the real streams, which takes time to load.
    getOutHasColors: () => true,
    getErrHasColors: () => true,
    stripColor: (text) => text,
  });
}
