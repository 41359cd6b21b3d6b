import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import type { ForwardingOptions, Signing } from "../../relay/dispatcher.ts";
import { CutLineError, parseRecordedEvent, type RecordedEvent, RecordingError, replay } from "../../relay/recording.ts";
import type { Context } from "../context.ts";
import { EnvironmentClock } from "../environment-time.ts";
import { EXIT_CODES, SilentExit, UsageError, UserError } from "../errors.ts";
import { sinksOf } from "./display.ts";
import type { Setup } from "./options.ts";
import { createListenPrinter } from "./printer.ts";

export interface ReplayFileOptions extends ForwardingOptions {
  speed: number;
  signing: Signing<RecordedEvent>;
  /** Throws for an event that cannot be sent. The events before it are completed first. */
  check?: (event: RecordedEvent) => void;
}

/** Sends a recording again. Exits with 1 if a receiver did not accept all of it. */
export async function replayFile(
  file: string,
  options: ReplayFileOptions,
  setup: Setup,
  context: Context,
): Promise<void> {
  const { signal } = context;
  const { sink, records } = sinksOf(context);
  const clock = new EnvironmentClock(context);
  const print = await createListenPrinter(context, sink, { ...setup, isRecorded: true }, clock, { records });
  // As of `webhooks send`: a receiver that accepts a connection and does not respond is reachable.
  let isReached = false;
  const report: typeof print = (line) => {
    if (line.event === "forwarded") isReached ||= line.failure === undefined || line.failure.code === "timeout";
    return print(line);
  };
  try {
    const summary = await replay(checked(readRecording(file, context), options.check), { ...options, signal, report });
    if (signal.aborted) throw signal.reason;
    if (summary.failed > 0) throw new SilentExit(isReached ? EXIT_CODES.failed : EXIT_CODES.unreachable);
  } catch (error) {
    if (error instanceof RecordingError) throw new UserError(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

async function* checked(
  events: AsyncIterable<RecordedEvent>,
  check: ReplayFileOptions["check"] = () => {},
): AsyncGenerator<RecordedEvent> {
  for await (const event of events) {
    check(event);
    yield event;
  }
}

/** Yields lines. Only a line feed ends them: node:readline also splits at U+2028 since Node 24. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  for await (const chunk of input as AsyncIterable<Buffer>) {
    const [first = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n");
    parts.push(first);
    for (const next of rest) {
      yield parts.join("");
      parts = [next];
    }
  }
  yield parts.join("") + decoder.decode();
}

/** Skips lines that were cut, with a warning. Ends on an interrupt, even while stdin is open. */
async function* readRecording(file: string, context: Context): AsyncGenerator<RecordedEvent> {
  const input = file === "-" ? context.stdin : createReadStream(file);
  let number = 0;
  let isRecording = false;
  let cut: CutLineError | undefined;
  const warnOfCut = (): void => {
    if (cut !== undefined) context.output.warn(`${file}: ${cut.message}: it is skipped.`);
    cut = undefined;
  };
  try {
    for await (const line of linesOf(addAbortSignal(context.signal, input))) {
      number += 1;
      if (line.trim() === "") continue;
      try {
        const event = parseRecordedEvent(line, number);
        isRecording = true;
        yield event;
      } catch (error) {
        // Several such lines at the start are not a recording.
        if (!(error instanceof CutLineError) || cut !== undefined) throw cut ?? error;
        cut = error;
      }
      if (isRecording) warnOfCut();
    }
    if (!isRecording) throw cut ?? new RecordingError("the file contains no deliveries");
  } catch (error) {
    if (context.signal.aborted) return;
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code !== "string" || !/^E[A-Z]+$/.test(code)) throw error;
    throw new UsageError(code === "ENOENT" ? `${file} does not exist` : `Cannot read ${file} (${code})`, {
      code: "input_file",
      cause: error,
    });
  }
}
