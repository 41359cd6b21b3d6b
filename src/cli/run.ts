import { setMaxListeners } from "node:events";
import { type Command, CommanderError } from "commander";
import { ApiError, orIfFailed } from "../client/errors.ts";
import {
  commandNamed,
  explainQuotes,
  isHelpShown,
  nameFlags,
  pointToHelp,
  rejectSwallowedFlags,
  usageErrorOf,
} from "./arguments/mistakes.ts";
import {
  type CommandDefinition,
  declareCommand,
  definitionOf,
  fieldNamesOf,
  ParsedCommand,
  pathOf,
} from "./command.ts";
import { COMMANDS } from "./command-table.ts";
import { Context } from "./context.ts";
import {
  BrokenPipeError,
  EXIT_CODES,
  InterruptedError,
  LostOutputError,
  SilentExit,
  UsageError,
  UserError,
} from "./errors.ts";
import { reportFailure } from "./failure.ts";
import { addGlobalOptions, type GlobalOptions } from "./global-options.ts";
import { formatHelp } from "./help-layout.ts";
import { currentProcessIo, type ProcessIo, withConnection } from "./process-io.ts";
import { assertFields } from "./terminal/view.ts";

const COMMAND_NAMES = COMMANDS.map(({ name }) => name);

/** Runs one command line of this process and returns its exit code. Never throws. */
export async function run(args: readonly string[]): Promise<number> {
  const controller = new AbortController();
  return await runIn(currentProcessIo(controller, listenForSignals(controller), COMMAND_NAMES), args);
}

/** Runs one command line with this I/O: the process's, or a test's. Returns the exit code. Never throws. */
export async function runIn(given: ProcessIo, args: readonly string[]): Promise<number> {
  const { signal } = given;
  const io: ProcessIo = { ...given, runnable: (text) => given.runnable(withConnection(text, args)) };
  // Each request in flight listens for the end.
  setMaxListeners(0, signal);
  try {
    await runProgram(args, io);
    await settleOutput(signal);
    return EXIT_CODES.ok;
  } catch (error) {
    if (signal.reason instanceof BrokenPipeError) return error instanceof SilentExit ? error.exitCode : EXIT_CODES.ok;
    return await reportFailure(error, args, io);
  }
}

/** The exit code of the process if stdout could not be written. */
export async function lostOutput(error: NodeJS.ErrnoException): Promise<number> {
  if (error.code === "EPIPE") return EXIT_CODES.ok;
  return await reportFailure(
    new LostOutputError(error),
    [],
    currentProcessIo(new AbortController(), () => {}, COMMAND_NAMES),
  );
}

/** Throws LostOutputError if stdout could not be written, which its stream reports a turn later. */
async function settleOutput(signal: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  if (signal.reason instanceof LostOutputError) throw signal.reason;
}

/**
 * Ends the command on signals. The same signal again ends the process at once; a different one is ignored, because
 * Ctrl-C reaches both this process and its parent, which may pass on SIGTERM. Returns what a SIGINT calls.
 */
function listenForSignals(controller: AbortController): () => void {
  const [interrupt] = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => {
    let isSecond = false;
    // The listener stays: packages that restore the cursor would otherwise consider the signal unhandled.
    const onSignal = (): void => {
      if (isSecond) {
        // The listeners of those packages stay, and restore it.
        process.off(name, onSignal);
        process.kill(process.pid, name);
      }
      isSecond = true;
      controller.abort(new InterruptedError(name));
    };
    process.on(name, onSignal);
    return onSignal;
  });
  // A program that started this one with an IPC channel may be killed without stopping it.
  process.once("disconnect", () => controller.abort(new InterruptedError("SIGTERM")));
  process.channel?.unref();
  return interrupt!;
}

const PROGRAM: CommandDefinition = {
  name: "service",
  about: "Build and test webhook integrations on your own machine",
  examples: [
    "service demo # End-to-end demo",
    "service dev # Platform, listener and app",
    "service listen --forward-to localhost:3000 # Forward events to your app",
    "service trigger order.completed # Trigger an event",
    "service why # Explain the newest failure",
    "service webhooks check localhost:3000 # Grade a receiver",
    "service customers create --email ada@example.com",
  ],
};

/** Runs one command line. Throws the command's errors; a usage error as UsageError. */
async function runProgram(args: readonly string[], io: ProcessIo): Promise<void> {
  const program = quietly(addGlobalOptions(new ParsedCommand(PROGRAM.name)), io);
  let operands: readonly string[] = [];
  let own = args;
  let changes: readonly string[] = [];
  let context: Context | undefined;
  try {
    // Parses the global flags and finds the command before any of it is loaded.
    operands = program.parseOptions([...args]).operands;
    context = await Context.create(io, globalsFor(program, operands));
    ({ changes } = context.output);
    let programArgs: readonly string[];
    [own, programArgs] = splitAtProgram(args, operands);
    await declare(program, context, operands, programArgs);
    await program.parseAsync([...own], { from: "user" });
    await showUpdateNotice(context);
  } catch (error) {
    if (error instanceof ApiError) nameFlags(error, commandNamed(program, operands));
    if (error instanceof ApiError && error.message.includes(" does not exist")) {
      const { explainMissing } = await import("./explanation.ts");
      await orIfFailed(explainMissing(error, await context!.client()), () => {});
    }
    if (error instanceof CommanderError && isHelpShown(error)) return;
    const failure =
      error instanceof CommanderError ? usageErrorOf(error, program, operands) : afterChanges(error, changes);
    throw explainQuotes(pointToHelp(failure, commandNamed(program, operands)), own);
  }
}

/**
 * A usage error says that nothing was sent, so that a script may send it again. After a change, the error says what was
 * changed, as does one of `--jq` that the response has caused.
 */
function afterChanges(error: unknown, changes: readonly string[]): unknown {
  const isOfOutput = error instanceof UsageError || (error instanceof UserError && error.code === "jq_failed");
  if (changes.length === 0 || !isOfOutput) return error;
  const succeeded = changes.length === 1 ? "The request succeeded" : "These requests succeeded";
  return new UserError(error.message, {
    hint: [`${succeeded}: ${changes.join(", ")}`, ...(error.hint === undefined ? [] : [error.hint])].join("\n"),
    code: "request_succeeded",
    cause: error,
  });
}

function globalsFor(program: Command, [name]: readonly string[]): GlobalOptions {
  const globals = program.opts<GlobalOptions>();
  const { jqSelects } = COMMANDS.find((entry) => entry.name === name) ?? {};
  if (jqSelects) return { ...globals, jq: undefined, selection: globals.jq };
  return { ...globals, json: globals.json || globals.jq !== undefined };
}

/** Splits the arguments at `--`, if the command runs a program. */
function splitAtProgram(
  args: readonly string[],
  [name]: readonly string[],
): [own: readonly string[], programArgs: readonly string[]] {
  const at = args.indexOf("--");
  const { runsProgram } = COMMANDS.find((entry) => entry.name === name) ?? {};
  return at < 0 || !runsProgram ? [args, []] : [args.slice(0, at), args.slice(at + 1)];
}

/** Shows that there is a newer version, on a terminal only: a script reads standard error, too. */
async function showUpdateNotice(context: Context): Promise<void> {
  const { env, output, stderr } = context;
  if (!stderr.isTTY || output.json || output.quiet || env["CI"]) return;
  const { showUpdateNotice } = await import("./update-notice.ts");
  showUpdateNotice(context);
}

/**
 * Declares every command by name and summary, so that root help and suggestions are complete. Only the module of the
 * named one is loaded and fully registered.
 */
async function declare(
  program: ParsedCommand,
  context: Context,
  operands: readonly string[],
  programArgs: readonly string[],
): Promise<void> {
  program.definition = PROGRAM;
  program
    .description(PROGRAM.about)
    .version(context.version, "-v, --version", "Print the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand(false)
    .configureHelp({
      formatHelp: (command, helper) =>
        formatHelp(command, helper, {
          styles: context.output.styles,
          runnable: (text) => context.output.runnable(text),
        }),
    });
  if (context.globals.dryRun) program.hook("preAction", (_program, action) => rejectDryRun(action));
  program.hook("preAction", (_program, action) => checkOutputFlags(action, context.globals));
  const named = new Set(operands.slice(0, operands[0] === "help" ? 2 : 1));
  for (const { name, summary, group, hidden = false, load } of COMMANDS) {
    const singular = singularOf(name);
    const command =
      named.has(name) || (singular !== undefined && named.has(singular))
        ? declareCommand(program, (await load()).command, { context, programArgs, hidden })
        : program.command(name, { hidden });
    if (singular !== undefined) command.alias(singular);
    command.summary(summary).helpGroup(group);
  }
  rejectSwallowedFlags(program);
}

/** Returns the singular of a command's noun, which is accepted too: `customer` for `customers`. */
function singularOf(name: string): string | undefined {
  if (name === "status" || !name.endsWith("s")) return undefined;
  return name.replace(/ies$/, "ys").slice(0, -1);
}

/** Makes commander throw instead of exiting. Help, requested or not, is data; the caller prints errors. */
function quietly(command: ParsedCommand, { stdout }: Pick<ProcessIo, "stdout">): ParsedCommand {
  const write = (text: string): void => stdout.write(text);
  const width = (): number => stdout.columns ?? 100;
  return command.exitOverride().configureOutput({
    writeOut: write,
    writeErr: write,
    outputError: () => {},
    getOutHelpWidth: width,
    getErrHelpWidth: width,
    // Commander would read the real streams, which take time to load.
    getOutHasColors: () => true,
    getErrHasColors: () => true,
    stripColor: (text) => text,
  });
}

/** Throws UsageError for a command that would ignore `--dry-run`. */
function rejectDryRun(command: Command): void {
  if (definitionOf(command)?.dryRun) return;
  throw new UsageError(`\`${pathOf(command)}\` does not support --dry-run`, {
    hint: "These commands do: those that change objects of the platform, webhooks send, and db migrate.",
  });
}

/**
 * Throws UsageError for invalid `--fields` and `--jq` before the command begins: after a change it would be too late to
 * report a usage error.
 */
async function checkOutputFlags(command: Command, { fields, jq, json, quiet }: GlobalOptions): Promise<void> {
  const { fields: accepted, isMixed } = definitionOf(command) ?? {};
  if (fields !== undefined && accepted === undefined) throw unsupported(command, "--fields");
  if (fields !== undefined && quiet && !json) {
    throw new UsageError("--quiet prints IDs only: it cannot be combined with --fields", {
      hint: "Omit one of them, or pass --json.",
    });
  }
  const known = fieldNamesOf(command);
  if (fields !== undefined && known !== undefined) assertFields(known, fields);
  if (jq === undefined) return;
  if (isMixed) throw unsupported(command, "--jq");
  const { assertJq } = await import("./terminal/jq.ts");
  await assertJq(jq);
}

function unsupported(command: Command, flag: string): UsageError {
  return new UsageError(`\`${pathOf(command)}\` does not support ${flag}`, {
    hint: "To select parts of its output, pipe that of --json into jq.",
  });
}
