import { realpathSync } from "node:fs";
import { BrokenPipeError, LostOutputError } from "./errors.ts";
import { commandName, withCommandName } from "./command-name.ts";
import { openTextStream, type TextStream } from "./terminal/text-stream.ts";

/** The process as the program sees it. Tests replace it. */
export interface ProcessIo {
  stdout: TextStream;
  stderr: TextStream;
  /** Node's own streams, opened at their first use: loading them takes several milliseconds. */
  streams: { stdin: () => NodeJS.ReadStream; stderr: () => NodeJS.WriteStream };
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  cwd: string;
  /** Returns text for people, in which commands begin with the words that start this program in their shell. */
  runnable: (text: string) => string;
  /** Aborted by Ctrl-C and termination signals (InterruptedError) and a closed stdout (BrokenPipeError). */
  signal: AbortSignal;
  /** Does what Ctrl-C does, for a terminal in raw mode. A signal to itself would kill the process on Windows. */
  interrupt: () => void;
}

/** The real process; `commands` are those of the program. Aborts the controller once the reader of stdout has closed it. */
export function currentProcessIo(
  controller: AbortController,
  interrupt: () => void,
  commands: readonly string[],
): ProcessIo {
  const { env, platform } = process;
  const cwd = process.cwd();
  let name: string | undefined;
  const stderr = (): NodeJS.WriteStream => process.stderr;
  return {
    stdout: openTextStream({
      descriptor: 1,
      platform,
      open: () => process.stdout,
      onClosed: (error) =>
        controller.abort(
          error.code === "EPIPE" ? new BrokenPipeError("stdout was closed") : new LostOutputError(error),
        ),
    }),
    // If stderr is closed, nobody can be notified.
    stderr: openTextStream({ descriptor: 2, platform, open: stderr, onClosed: () => {} }),
    streams: { stdin: () => process.stdin, stderr },
    env,
    platform,
    cwd,
    runnable(text) {
      name ??= commandName({ env, cwd, platform }, realpathSync(process.argv[1]!));
      return withCommandName(text, name, commands);
    },
    signal: controller.signal,
    interrupt,
  };
}
