import type { Report } from "../../../relay/report.ts";
import type { Context } from "../../context.ts";
import { InterruptedError, UserError } from "../../errors.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { flagsOf } from "../../project/forwarding.ts";
import type { Project } from "../../project/schema.ts";
import { showNotice, streamSink } from "../listen/display.ts";
import { type Receivers, readForwardingOptions } from "../listen/forwarding-options.ts";
import { accessPlatform, type PlatformAccess } from "../listen/platform-access.ts";
import { createListenPrinter, type Display } from "../listen/printer.ts";
import { Listening, type ListenFlags } from "../listen/run.ts";

type Ready = Extract<Report, { event: "ready" }>;

/** The listener of `service dev`, which can be restarted with other settings. A restart skips no events. */
export class RestartableListener {
  readonly #context: Context;
  readonly #onFailure: (error: unknown) => void;
  #platform: PlatformAccess | undefined;
  #current: { stop: AbortController; ended: Promise<void> } | undefined;
  /** Where the next session starts. */
  #cursor = "now";

  /** `onFailure` receives the error that ended a session after it was ready. */
  constructor(context: Context, onFailure: (error: unknown) => void) {
    this.#context = context;
    this.#onFailure = onFailure;
  }

  /** Starts with the settings of the project, after the current session has ended. Resolves once it is ready. */
  async start(project: Project): Promise<{ ready: Ready; receivers: Receivers }> {
    await this.stop();
    const stop = new AbortController();
    const context = this.#context.withSignal(stop.signal);
    const flags: ListenFlags = { ...NO_FLAGS, ...flagsOf(project), since: this.#cursor };
    // The project file may have been changed to name another platform.
    this.#platform ??= await accessPlatform(this.#context);
    const platform = this.#platform;
    const { receivers, options: forwarding } = readForwardingOptions(flags, context);
    let onReady = (_ready: Ready): void => {};
    const isReady = new Promise<Ready>((resolve) => {
      onReady = resolve;
    });
    const clock = new EnvironmentClock(context);
    const display = await openDisplay(context, { receivers, clock }, (ready) => onReady(ready));
    const passed = (cursor: string): void => void (this.#cursor = cursor);
    const receiverStarts = project.run !== undefined;
    const listening = new Listening(
      { flags, command: [], platform, receivers, forwarding, display, clock, receiverStarts, passed },
      context,
    );
    const running = listening.run();
    this.#current = { stop, ended: running.catch(() => {}) };
    const ready = await Promise.race([isReady, running.then(() => stopped())]);
    if (this.#cursor === "now") this.#cursor = ready.cursor;
    running.catch((error: unknown) => this.#onFailure(error));
    return { ready, receivers };
  }

  /** Waits for the forwards in flight. */
  async stop(): Promise<void> {
    const { stop, ended } = this.#current ?? {};
    stop?.abort(new InterruptedError("SIGINT"));
    await ended;
  }
}

function stopped(): never {
  throw new UserError("The listener was stopped before it was ready");
}

const NO_FLAGS: ListenFlags = {
  route: [],
  header: [],
  concurrency: 16,
  ordered: false,
  retries: 3,
  timeout: 10_000,
  skipVerify: false,
  failOnError: false,
  printSecret: false,
  ui: false,
};

/** Prints like `service listen`, except that the caller reports readiness. */
async function openDisplay(
  context: Context,
  { receivers, clock }: { receivers: Receivers; clock: EnvironmentClock },
  onReady: (ready: Ready) => void,
): Promise<Display> {
  const { output, stdout } = context;
  const print = await createListenPrinter(context, streamSink(stdout, output.styles), receivers, clock);
  return {
    print(report) {
      if (report.event === "ready") onReady(report);
      else if (report.event === "hint")
        print({ ...report, message: report.message.replace("--forward-to", "forward.to:") });
      else print(report);
    },
    warn: (text) => output.warn(text),
    clockRead: () => showNotice(context, clock),
    start() {},
    stop() {},
    settle: async () => {},
  };
}
