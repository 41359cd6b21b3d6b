import { LIMITS } from "../../contract/limits.ts";
import type { Context } from "../context.ts";
import type { EnvironmentClock } from "../environment-time.ts";
import type { Styles } from "../terminal/styles.ts";
import { printableOutput } from "../terminal/printable.ts";
import type { TextStream } from "../terminal/text-stream.ts";
import type { Setup } from "./options.ts";
import type { ListenUi, ListenUiOptions } from "./ui/index.ts";
import { createListenPrinter, type Display, type LineSink, omittedLine } from "./printer.ts";

/** Returns a display for the reports of a run. A child command has stdout to itself. */
export async function openDisplay(
  context: Context,
  setup: Setup,
  { runsCommand, ui, clock }: { runsCommand: boolean; ui: boolean; clock: EnvironmentClock },
): Promise<Display> {
  if (ui && !runsCommand && isTerminal(context)) return await openUi({ context, setup, clock });
  const { stdout, stderr, output } = context;
  const { sink, records } = runsCommand ? { sink: streamSink(stderr, output.noteStyles) } : sinksOf(context);
  const hiddenSecret =
    sink.width() === undefined ? output.runnable("to print it: service listen --print-secret") : undefined;
  // Forwarding does not wait for a slow reader of the output.
  const settle =
    setup.target !== undefined && !runsCommand
      ? await stdout.makeNonBlocking({
          omitted: (lines) => `${omittedLine(lines, context)}\n`,
          // Lines of --json contain whole events.
          maxBytes: 16 * LIMITS.bodyBytes,
        })
      : async () => {};
  return {
    print: await createListenPrinter(
      context,
      sink,
      { ...setup, hiddenSecret, ...(runsCommand ? {} : { ending: "Press Ctrl-C to stop" }) },
      clock,
      { records },
    ),
    warn: (text) => output.warn(text),
    clockRead: () => showNotice(context, clock),
    settle,
  };
}

/** Shows the notice to a person only, who may wonder why the times of events differ from those of this machine. */
export function showNotice({ output }: Context, { notice }: EnvironmentClock): void {
  if (notice !== undefined && output.terminal && !output.json && !output.quiet) output.warn(notice);
}

/** Shows events on the whole terminal. */
export async function openUi({
  setup,
  ...options
}: Omit<ListenUiOptions, "print"> & { setup: Setup }): Promise<ListenUi> {
  const { ListenUi } = await import("./ui/index.ts");
  const { setFlagsFromString } = await import("node:v8");
  // Each frame leaves garbage. V8 would reserve up to 48 MB for it instead of collecting it more often.
  setFlagsFromString("--semi-space-growth-factor=1");
  const { context, clock } = options;
  const sink = streamSink(context.stdout, context.output.styles);
  const print = await createListenPrinter(context, sink, setup, clock, { hasScreen: true });
  return new ListenUi({ ...options, print });
}

/** Returns true if keys can be read and the terminal can be drawn on. */
export function isTerminal({ output, interactive, env }: Context): boolean {
  return interactive && output.terminal && !output.json && !output.quiet && env["TERM"] !== "dumb";
}

/** Returns where lines go: in a pipe, data to stdout, and everything else to stderr. */
export function sinksOf({ stdout, stderr, output }: Context): { sink: LineSink; records?: LineSink } {
  const data = streamSink(stdout, output.styles);
  return output.terminal ? { sink: data } : { sink: streamSink(stderr, output.noteStyles), records: data };
}

/** Prints plain lines on a stream. */
export function streamSink(stream: TextStream, styles: Styles): LineSink {
  return {
    styles,
    write: (text) => stream.write(`${printableOutput(text)}\n`),
    width: () => (stream.isTTY ? (stream.columns ?? 80) : undefined),
  };
}
