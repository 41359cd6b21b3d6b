import type { Report } from "../../../relay/report.ts";
import type { Session } from "../../../relay/session.ts";
import type { Context } from "../../context.ts";
import type { Styles } from "../../terminal/styles.ts";
import type { TextStream } from "../../terminal/text-stream.ts";
import type { Setup } from "./forwarding-options.ts";
import { createListenPrinter, type LineSink, omittedLine } from "./printer.ts";

/** What is seen of a session, and the keys that act on it. */
export interface Display {
  print(report: Report): void;
  warn(text: string): void;
  /** Takes the keyboard, where a person watches. */
  start(session: Session): void;
  /** Gives the terminal back. */
  stop(): void;
  /** To be called last: resolves once what was printed is read, or given up. */
  settle(): Promise<void>;
}

/** Where the lines of a session go. A command that runs meanwhile has stdout to itself. */
export async function openDisplay(
  context: Context,
  setup: Omit<Setup, "ending">,
  { runsCommand }: { runsCommand: boolean },
): Promise<Display> {
  if (!runsCommand && canControl(context)) return await openScreen(context, setup);
  const { stdout, stderr, output } = context;
  const sink = runsCommand ? streamSink(stderr, output.noteStyles) : streamSink(stdout, output.styles);
  // What is forwarded does not wait for whoever reads about it.
  const settle =
    setup.target !== undefined && !runsCommand
      ? await stdout.makeNonBlocking((lines) => `${omittedLine(lines, context)}\n`)
      : async () => {};
  return {
    print: await createListenPrinter(context, sink, { ...setup, ending: "Press Ctrl-C to stop" }),
    warn: (text) => output.warn(text),
    start() {},
    stop() {},
    settle,
  };
}

/** Lines above one that stays, and tells of the keys. */
async function openScreen(context: Context, setup: Omit<Setup, "ending">): Promise<Display> {
  const { Controls, Screen } = await import("./controls.ts");
  const screen = new Screen(context);
  const controls = new Controls(context, screen);
  const print = await createListenPrinter(context, screen, setup);
  return {
    print(report) {
      print(report);
      controls.notice(report);
    },
    warn: (text) => screen.warn(text),
    start: (session) => controls.start(session),
    stop: () => controls.stop(),
    settle: async () => {},
  };
}

/** True where keys can be read and the line that stays can be drawn. */
function canControl({ output, interactive, env }: Context): boolean {
  return interactive && output.terminal && !output.json && !output.quiet && env["TERM"] !== "dumb";
}

/** Plain lines on a stream. */
export function streamSink(stream: TextStream, styles: Styles): LineSink {
  return {
    styles,
    write: (text) => stream.write(`${text}\n`),
    width: () => (stream.isTTY ? (stream.columns ?? 80) : undefined),
  };
}
