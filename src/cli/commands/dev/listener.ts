import { timeOfId } from "../../../contract/ids.ts";
import type { Waiting } from "../../../contract/listen.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import type { Report } from "../../../relay/report.ts";
import type { Context } from "../../context.ts";
import { InterruptedError } from "../../errors.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { flagsOf } from "../../project/forwarding.ts";
import type { Project } from "../../project/schema.ts";
import { hasFailed } from "../../forwarding/lines.ts";
import { printable } from "../../terminal/printable.ts";
import { showNotice, streamSink } from "../../forwarding/display.ts";
import { type Receivers, readForwardingOptions, type Setup } from "../../forwarding/options.ts";
import { accessPlatform, type PlatformAccess } from "../../forwarding/platform-access.ts";
import type { Feed } from "../../forwarding/ui/feed.ts";
import type { ListenUi } from "../../forwarding/ui/index.ts";
import { createListenPrinter, type Display } from "../../forwarding/printer.ts";
import { Listening, type ListenFlags } from "../../forwarding/listening.ts";

export type Ready = Extract<Report, { event: "ready" }>;

interface ListenerOptions {
  /** The screen; undefined to print lines. */
  ui: ListenUi | undefined;
  /** What the screen says about the session. */
  setup: Pick<Setup, "hiddenSecret">;
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
  readonly #options: ListenerOptions;
  readonly #ended: Promise<void>;
  #project: Project;
  /** Ends the current session. */
  #session = new AbortController();
  #isStopped = false;
  /** What events wait for. */
  #awaited: Waiting | undefined;
  /** True while the user has paused forwarding. */
  #isHeld = false;
  /** True once the log of the screen names the command that explains a failure. */
  #isExplained = false;
  /** The current session's; undefined until it is ready. */
  #feed: Feed | undefined;
  /** Where the next session starts; undefined for the first one. */
  #cursor: string | undefined;

  constructor(project: Project, context: Context, options: ListenerOptions) {
    this.#project = project;
    this.#context = context;
    this.#options = options;
    this.#ended = this.#run().catch(options.onFailure);
  }

  /** Starts another session with these settings, after the forwards in flight. */
  restart(project: Project): void {
    this.#project = project;
    this.#session.abort(new InterruptedError("SIGINT"));
  }

  /** Lets events wait for the app, until it is called without. */
  awaitApp(awaited: Waiting | undefined): void {
    this.#awaited = awaited;
    this.#feed?.awaitReceiver?.(awaited);
  }

  #hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (isHeld) this.#feed?.pause();
    else this.#feed?.resume();
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
    const { ui, setup } = this.#options;
    const flags: ListenFlags = { ...NO_FLAGS, ...flagsOf(this.#project), since: this.#cursor };
    const { receivers, options: forwarding } = readForwardingOptions(flags, context);
    const clock = ui?.clock ?? new EnvironmentClock(context);
    const lines = ui ?? (await openLines(context, { receivers, clock, isPaused: () => this.#awaited !== undefined }));
    this.#feed = undefined;
    const listening = new Listening(
      {
        flags,
        command: [],
        platform,
        setup: { ...receivers, ...setup },
        forwarding,
        display: this.#displayOf(lines, receivers),
        clock,
        receiverStarts: this.#project.run !== undefined,
        passed: (cursor) => void (this.#cursor = cursor),
      },
      context,
    );
    await listening.run();
  }

  /** Shows one session, on a screen that outlives it. */
  #displayOf(display: Display, receivers: Receivers): Display {
    const outlives = display === this.#options.ui;
    return {
      print: (report) => {
        if (report.event === "hint") {
          display.print({ ...report, message: report.message.replace("--forward-to", "forward.to:") });
        } else if (report.event !== "summary" || !outlives || this.#isStopped) display.print(report);
        this.#observe(report, receivers);
      },
      warn: (text) => {
        const command = (_flag: string, id: string): string =>
          this.#context.output.runnable(shellCommand`run: service events replay --since ${sinceOf(id)}`);
        display.warn(text.replace(/pass --since (evt_\w+)/, command));
      },
      clockRead: () => display.clockRead(),
      begin: (feed) => {
        this.#feed = feed;
        this.#hold(this.#isHeld);
        const facts = feed.facts.map(
          ([label, text]) => [label, text.replace("pass --forward-to", "set forward.to")] as const,
        );
        display.begin?.({ ...feed, facts, pause: () => this.#hold(true), resume: () => this.#hold(false) });
        this.awaitApp(this.#awaited);
      },
      waitUntil: (awaited) => display.waitUntil?.(awaited),
      stop: () => {
        if (!outlives) display.stop?.();
      },
    };
  }

  #observe(report: Report, receivers: Receivers): void {
    const { ui, onReady, onReset, onWaiting } = this.#options;
    if (report.event === "received" && this.#awaited !== undefined && ui === undefined) {
      // The printer writes the event's own line at the end of this turn of the event loop.
      return void setImmediate(onWaiting);
    }
    if (report.event === "forwarded" && hasFailed(report) && ui !== undefined && !this.#isExplained) {
      this.#isExplained = true;
      const { output } = this.#context;
      output.line(output.runnable(`to explain it: service why ${printable(report.id)}`));
    }
    if (report.event === "reset") return onReset();
    if (report.event !== "ready") return;
    this.#cursor ??= report.cursor;
    onReady(report, receivers);
  }
}

/** Returns the time of an event for `--since`; for the position before the first event, the whole retention time. */
function sinceOf(id: string): string {
  const time = timeOfId(id);
  return time === 0 ? "30d" : formatTimestamp(time);
}

/** As `service listen` has without flags. */
const NO_FLAGS: ListenFlags = { retries: 3, failOnError: false, printSecret: false, ui: false };

interface LinesOptions {
  receivers: Receivers;
  clock: EnvironmentClock;
  /** Returns true while events wait for the app. */
  isPaused: () => boolean;
}

/** Prints like `service listen`, except that the caller reports readiness. */
async function openLines(context: Context, { receivers, clock, isPaused }: LinesOptions): Promise<Display> {
  const { output, stdout } = context;
  const sink = streamSink(stdout, output.styles);
  const everyLine = await createListenPrinter(context, sink, { ...receivers, explains: true }, clock);
  const isFolded = output.terminal && !output.json && !output.quiet && receivers.target !== undefined;
  const { print, flush } = isFolded ? foldPairs(everyLine, isPaused) : { print: everyLine, flush: () => {} };
  return {
    print(report) {
      if (report.event !== "ready") print(report);
    },
    warn: (text) => output.warn(text),
    clockRead: () => showNotice(context, clock),
    stop: flush,
  };
}

/** A response that takes longer is a line of its own. */
const PAIR_MS = 1000;

/** Prints an event and its first response as one line, that of the response. `flush` prints what has no response yet. */
function foldPairs(print: Display["print"], isPaused: () => boolean): { print: Display["print"]; flush: () => void } {
  const waiting = new Map<string, { timer: NodeJS.Timeout; show: () => void }>();
  return {
    print(report) {
      if (report.event === "received" && !isPaused()) {
        const show = (): void => {
          waiting.delete(report.id);
          print(report);
        };
        waiting.set(report.id, { timer: setTimeout(show, PAIR_MS), show });
        return;
      }
      if (report.event === "forwarded") {
        clearTimeout(waiting.get(report.id)?.timer);
        waiting.delete(report.id);
      }
      print(report);
    },
    flush() {
      for (const { timer, show } of waiting.values()) {
        clearTimeout(timer);
        show();
      }
    },
  };
}
