import type { Waiting } from "../../../contract/listen.ts";
import type { Report } from "../../../relay/report.ts";
import type { Context } from "../../context.ts";
import type { EnvironmentClock } from "../../environment-time.ts";
import { FullScreen } from "../../terminal/full-screen.ts";
import type { Key } from "../../terminal/keys.ts";
import { printable } from "../../terminal/printable.ts";
import { graphemes } from "../../terminal/spans.ts";
import { paint } from "../../terminal/styles.ts";
import { gapText } from "../lines.ts";
import type { Display } from "../printer.ts";
import { Actions } from "./actions.ts";
import { type Feed, offers } from "./feed.ts";
import { frameOf } from "./frame.ts";
import type { Log } from "./log.ts";
import { Model } from "./model.ts";
import { columnsOf, rowLine } from "./row.ts";

/** Minimum time between two frames. */
const FRAME_MS = 50;
/** Events that stay on the terminal after the screen. */
const MAX_LEFT = 10;
/** A countdown changes every second even if nothing else does. */
const TICK_MS = 1_000;

export interface ListenUiOptions {
  context: Context;
  /** Has the streams of the terminal, if those of `context` print for a part of it. */
  terminal?: Context;
  /** Output of other programs, which is shown below the list. */
  log?: Log | undefined;
  clock: EnvironmentClock;
  /** Prints a report as plain lines, before the screen is shown and afterwards. */
  print: (report: Report) => void;
}

/**
 * Shows events in the whole terminal from the time that their feed is ready. The same reports are printed as lines
 * without the UI.
 */
export class ListenUi implements Display {
  readonly #options: ListenUiOptions;
  readonly #screen: FullScreen;
  /** Repeated below the summary, because the screen that showed them is gone. */
  readonly #warnings: string[] = [];
  #model: Model | undefined;
  #actions: Actions | undefined;
  /** Sessions that listened to the same events at the start. */
  #others = 0;
  #isOver = false;
  #frame: NodeJS.Timeout | undefined;
  #paintedAt = 0;

  constructor(options: ListenUiOptions) {
    this.#options = options;
    this.#screen = new FullScreen(options.terminal ?? options.context, {
      onKey: (key) => this.#press(key),
      onChange: () => this.#draw(),
    });
    if (options.log !== undefined) options.log.onChange = () => this.#drawSoon();
  }

  get clock(): EnvironmentClock {
    return this.#options.clock;
  }

  /** True while the screen is in use. */
  get isShown(): boolean {
    return this.#model !== undefined && !this.#isOver;
  }

  /** Shows the screen. Another session continues the list. */
  begin(feed: Feed): void {
    if (this.#isOver) return;
    const { context, clock, log } = this.#options;
    if (this.#model !== undefined) {
      this.#model.feed = feed;
      this.#model.lost = undefined;
      return this.#drawSoon();
    }
    this.#model = new Model(feed, clock, this.#screen.size, log);
    this.#actions = new Actions(context, this.#model, this.#screen);
    if (this.#others > 0) this.#model.sayOthers(this.#others);
    this.#screen.enter();
    this.#draw();
  }

  print(report: Report): void {
    const { clock, print } = this.#options;
    if (report.event === "summary") this.stop();
    if ("others" in report) this.#others = report.others;
    if (this.#model !== undefined && !this.#isOver) {
      if (report.event === "gap") this.#warnings.push(gapText(report));
      this.#model.apply(report, clock.now());
      return this.#drawSoon();
    }
    if (report.event === "summary") this.#printRows();
    print(report);
    const failed = report.event === "summary" ? this.#model?.history.failed().at(-1) : undefined;
    if (failed === undefined || !offers(this.#model!.feed, "w")) return;
    const { output } = this.#options.context;
    output.line(output.runnable(`To explain the last failure: service why ${printable(failed.event.id)}`));
  }

  /** Repeats the latest rows, because the list that showed them is gone. */
  #printRows(): void {
    const { context, terminal = context } = this.#options;
    const { output } = terminal;
    const rows = this.#model?.history.rows.slice(-MAX_LEFT) ?? [];
    const columns = columnsOf(rows, output.width);
    for (const row of rows) output.line(paint(rowLine(row, false, columns), output.styles).trimEnd());
  }

  warn(text: string): void {
    const { context } = this.#options;
    if (this.#model === undefined || this.#isOver) return context.output.warn(text);
    this.#warnings.push(text);
    this.#model.say(text, "warn");
    this.#drawSoon();
  }

  waitUntil(awaited: Waiting | undefined): void {
    if (this.#model !== undefined) {
      this.#model.awaited = awaited;
      // What it says about the missing receiver is over.
      if (awaited === undefined) this.#model.message = undefined;
    }
    this.#drawSoon();
  }

  /** Shows a question and the end of the log. Resolves with the first key of one of the answers, such as `r restart`. */
  ask(text: string, keys: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    const model = this.#model;
    if (model === undefined || signal.aborted) return Promise.resolve(undefined);
    if (model.typing) model.endFilter(true);
    model.show("log");
    this.#drawSoon();
    return new Promise((resolve) => {
      const answer = (key?: string): void => {
        model.question = undefined;
        signal.removeEventListener("abort", onAbort);
        if (model.view === "log") model.back();
        resolve(key);
      };
      const onAbort = (): void => answer();
      signal.addEventListener("abort", onAbort, { once: true });
      model.question = { text, keys, answer };
    });
  }

  clockRead(): void {
    this.#drawSoon();
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#frame);
    this.#screen.leave();
    for (const text of this.#warnings.splice(0)) this.#options.context.output.warn(text);
  }

  /** Many events share one frame. */
  #drawSoon(): void {
    if (!this.#screen.active) return;
    const wait = this.#paintedAt + FRAME_MS - this.#options.context.now();
    this.#drawAfter(Math.min(Math.max(wait, 0), FRAME_MS));
  }

  #drawAfter(milliseconds: number): void {
    clearTimeout(this.#frame);
    this.#frame = setTimeout(() => this.#draw(), milliseconds);
  }

  #press(key: Key): void {
    const model = this.#model;
    if (model === undefined || this.#isOver) return;
    const { question } = model;
    if (question?.keys.some((hint) => hint.startsWith(`${key.name} `)) && !model.typing) question.answer(key.name);
    else if (model.typing) typeFilter(model, key);
    else if (key.name === "q" && model.view === "help") model.back();
    else if (key.name === "q") this.#options.context.interrupt();
    else if (!move(model, key.name)) this.#act(key.name, model);
    this.#drawSoon();
  }

  #act(key: string, model: Model): void {
    const { selected, feed } = model;
    const actions = this.#actions;
    if (key === "p") {
      model.paused = !model.paused;
      return model.paused ? feed.pause() : feed.resume();
    }
    if (key === "R") return actions?.resendFailed();
    if (actions === undefined) return;
    if (!offers(feed, key)) return model.say(`${key} is only for events of the platform`);
    if (selected === undefined) return ROW_KEYS.has(key) ? model.say("No event is selected") : undefined;
    void actions.press(key, selected, () => this.#isOver).then(() => this.#drawSoon());
  }

  #draw(): void {
    const { context } = this.#options;
    if (this.#model === undefined || !this.#screen.active) return;
    this.#model.size = this.#screen.size;
    this.#screen.paint(frameOf(this.#model, context.output.styles));
    this.#paintedAt = context.now();
    this.#drawAfter(TICK_MS);
  }
}

/** Keys that act on the selected event. */
const ROW_KEYS: ReadonlySet<string> = new Set("rweyto");

/** Number of rows or lines that these keys move by; `page` is the height of a page. */
const STEPS: Readonly<Record<string, (page: number) => number>> = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  "page up": (page) => -page,
  "page down": (page) => page,
  " ": (page) => page,
  home: () => -Infinity,
  g: () => -Infinity,
  end: () => Infinity,
  G: () => Infinity,
};
const EVENT_STEPS: Readonly<Record<string, -1 | 1>> = { left: -1, h: -1, right: 1, l: 1 };

/** Handles the keys for navigation. Returns false for any other key. */
function move(model: Model, key: string): boolean {
  const { view } = model;
  const lines = STEPS[key]?.(Math.max(model.layout.pane.height - 1, 1));
  const events = EVENT_STEPS[key];
  if (lines !== undefined) {
    if (view === "list") model.move(lines);
    else model.scrollBy(lines);
  } else if (events !== undefined) {
    if (view === "details") model.move(events);
  } else if (key === "enter") {
    if (view === "list") model.show("details");
  } else if (key === "?") {
    if (view === "help") model.back();
    else model.show("help");
  } else if (key === "tab" && model.log !== undefined) {
    if (view === "log") model.back();
    else model.show("log");
  } else if (key === "escape") {
    model.back();
  } else if (key === "/") {
    model.beginFilter();
  } else if (key === "c") {
    model.clear();
  } else return false;
  return true;
}

/** Edits the filter. Changes apply immediately. */
function typeFilter(model: Model, { name, text }: Key): void {
  if (name === "enter") return model.endFilter(true);
  if (name === "escape" || (name === "backspace" && model.filter === "")) return model.endFilter(false);
  if (name === "ctrl-u") return model.setFilter("");
  if (name === "backspace") return model.setFilter(Array.from(graphemes(model.filter)).slice(0, -1).join(""));
  // Pasted text may have several lines.
  if (text !== undefined) model.setFilter((model.filter + text.replaceAll(/\s+/g, " ")).slice(0, MAX_FILTER_LENGTH));
}

const MAX_FILTER_LENGTH = 200;
