import type { Report } from "../../../relay/report.ts";
import type { Context } from "../../context.ts";
import { InterruptedError } from "../../errors.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { flagsOf } from "../../project/forwarding.ts";
import type { Project } from "../../project/schema.ts";
import { showNotice, streamSink } from "../../forwarding/display.ts";
import { type Receivers, readForwardingOptions } from "../../forwarding/options.ts";
import { accessPlatform, type PlatformAccess } from "../../forwarding/platform-access.ts";
import type { Feed } from "../../forwarding/ui/feed.ts";
import { createListenPrinter, type Display } from "../../forwarding/printer.ts";
import { Listening, type ListenFlags } from "../../forwarding/listening.ts";

export type Ready = Extract<Report, { event: "ready" }>;

export interface ListenerObserver {
  /** Called once per session, when it is ready. */
  onReady: (ready: Ready, receivers: Receivers) => void;
  /** Called when an event arrives while events wait. */
  onWaiting: () => void;
  /** Called when the sandbox was reset. */
  onReset: () => void;
  /** Receives the error that ended the listener. */
  onFailure: (error: unknown) => void;
}

/**
 * The listener of `service dev`: one session after another, each with the latest settings. No event is skipped between
 * them.
 */
export class RestartableListener {
  readonly #context: Context;
  readonly #observer: ListenerObserver;
  readonly #ended: Promise<void>;
  #project: Project;
  /** Ends the current session. */
  #session = new AbortController();
  #isStopped = false;
  #isPaused = false;
  /** The current session's; undefined until it is ready. */
  #feed: Feed | undefined;
  /** Where the next session starts. */
  #cursor = "now";

  constructor(project: Project, context: Context, observer: ListenerObserver) {
    this.#project = project;
    this.#context = context;
    this.#observer = observer;
    this.#ended = this.#run().catch(observer.onFailure);
  }

  /** Starts another session with these settings, after the forwards in flight. */
  restart(project: Project): void {
    this.#project = project;
    this.#session.abort(new InterruptedError("SIGINT"));
  }

  /** Lets events wait until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#feed?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#feed?.resume();
  }

  /** Resolves after the forwards in flight. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#session.abort(new InterruptedError("SIGINT"));
    return this.#ended;
  }

  async #run(): Promise<void> {
    // The project file may be changed later to name another platform.
    const platform = await accessPlatform(this.#context);
    while (!this.#isStopped) {
      this.#session = new AbortController();
      await this.#listen(platform, this.#context.withSignal(this.#session.signal));
    }
  }

  async #listen(platform: PlatformAccess, context: Context): Promise<void> {
    const flags: ListenFlags = { ...NO_FLAGS, ...flagsOf(this.#project), since: this.#cursor };
    const { receivers, options: forwarding } = readForwardingOptions(flags, context);
    const clock = new EnvironmentClock(context);
    this.#feed = undefined;
    const begin = (feed: Feed): void => {
      this.#feed = feed;
      if (this.#isPaused) feed.pause();
    };
    const display = await openDisplay(context, { receivers, clock, begin }, (report) => {
      // The printer writes the event's own line at the end of this turn of the event loop.
      if (report.event === "received" && this.#isPaused) return void setImmediate(this.#observer.onWaiting);
      if (report.event === "reset") return this.#observer.onReset();
      if (report.event !== "ready") return;
      if (this.#cursor === "now") this.#cursor = report.cursor;
      this.#observer.onReady(report, receivers);
    });
    const passed = (cursor: string): void => void (this.#cursor = cursor);
    const receiverStarts = this.#project.run !== undefined;
    await new Listening(
      { flags, command: [], platform, setup: receivers, forwarding, display, clock, receiverStarts, passed },
      context,
    ).run();
  }
}

/** As `service listen` has without flags. */
const NO_FLAGS: ListenFlags = { retries: 3, failOnError: false, printSecret: false, ui: false };

/** Prints like `service listen`, except that the caller reports readiness. */
async function openDisplay(
  context: Context,
  { receivers, clock, begin }: { receivers: Receivers; clock: EnvironmentClock; begin: Display["begin"] },
  observe: (report: Report) => void,
): Promise<Display> {
  const { output, stdout } = context;
  const print = await createListenPrinter(
    context,
    streamSink(stdout, output.styles),
    { ...receivers, explains: true },
    clock,
  );
  return {
    print(report) {
      if (report.event === "hint") print({ ...report, message: report.message.replace("--forward-to", "forward.to:") });
      else if (report.event !== "ready") print(report);
      observe(report);
    },
    warn: (text) => output.warn(text),
    clockRead: () => showNotice(context, clock),
    hasScreen: false,
    begin,
    stop() {},
    settle: async () => {},
  };
}
