import { emitKeypressEvents, type Key } from "node:readline";
import type { ForwardedReport, Report } from "../../../relay/report.ts";
import type { Session } from "../../../relay/session.ts";
import type { Context } from "../../context.ts";
import { foldText } from "../../terminal/fold.ts";
import { prettyJson } from "../../terminal/json.ts";
import { printable } from "../../terminal/printable.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import type { TextStream } from "../../terminal/text-stream.ts";
import { colorStatus } from "../../terminal/traffic.ts";
import { wrapAfter } from "../../terminal/wrap.ts";
import { layoutFor, responseLines } from "./lines.ts";
import type { LineSink } from "./printer.ts";

const CLEAR_LINE = "\r\u001b[2K";
const CLEAR_ALL = "\u001b[2J\u001b[3J\u001b[H";

/** Prints on a terminal: lines scroll above the status line. */
export class Screen implements LineSink {
  readonly styles: Styles;
  readonly #stdout: TextStream;
  #footer = "";

  constructor({ stdout, output }: Context) {
    this.#stdout = stdout;
    this.styles = output.styles;
  }

  write(text: string): void {
    this.#stdout.write(`${this.#footer === "" ? "" : CLEAR_LINE}${text}\n${this.#footer}`);
  }

  /** Output for stderr. Printed there, it would end up below the status line. */
  warn(text: string): void {
    this.write(wrapAfter("Warning:", text, { width: this.width(), style: (mark) => this.styles.warn(mark) }));
  }

  width(): number {
    return this.#stdout.columns ?? 80;
  }

  /** Changes the status line. An empty text removes it. */
  setFooter(text: string): void {
    if (text === this.#footer) return;
    this.#footer = text;
    this.#stdout.write(CLEAR_LINE + text);
  }

  clear(): void {
    this.#stdout.write(CLEAR_ALL + this.#footer);
  }
}

/** The keys of `service listen`, and the status line at the bottom that lists them. */
export class Controls {
  readonly #context: Context;
  readonly #screen: Screen;
  readonly #history = new History();
  #session: Session | undefined;
  #paused = false;
  #running = false;
  #drawing = false;

  constructor(context: Context, screen: Screen) {
    this.#context = context;
    this.#screen = screen;
  }

  /** Reads keys, which act on this session. */
  start(session: Session): void {
    const { stdin } = this.#context;
    this.#session = session;
    this.#running = true;
    emitKeypressEvents(stdin);
    stdin.on("keypress", this.#onKey);
    stdin.setRawMode(true);
    stdin.resume();
    process.on("SIGCONT", this.#onContinue);
    this.#draw();
  }

  /** Restores the terminal. */
  stop(): void {
    if (!this.#running) return;
    const { stdin } = this.#context;
    this.#running = false;
    process.off("SIGCONT", this.#onContinue);
    stdin.off("keypress", this.#onKey);
    stdin.setRawMode(false);
    stdin.pause();
    this.#screen.setFooter("");
  }

  /** Call this with every report. */
  notice(report: Report): void {
    if (report.event === "received") this.#history.add({ id: report.id, type: report.type, body: report.body });
    else if (report.event === "forwarded") this.#history.finished(report);
    else return;
    if (this.#drawing) return;
    this.#drawing = true;
    // Once per turn of the event loop, however many events it has.
    setImmediate(() => {
      this.#drawing = false;
      this.#draw();
    });
  }

  readonly #onKey = (_text: string | undefined, { name, ctrl }: Key): void => {
    // Raw mode keeps the terminal from handling these.
    if (ctrl) return name === "c" ? signal("SIGINT") : name === "z" ? this.#suspend() : undefined;
    if (name === "r") this.#resend();
    else if (name === "up" || name === "down") this.#history.move(name === "up" ? -1 : 1);
    else if (name === "return" || name === "enter") this.#show();
    else if (name === "p") this.#togglePause();
    else if (name === "c") this.#clear();
    else if (name === "q") return signal("SIGINT");
    this.#draw();
  };

  readonly #onContinue = (): void => {
    this.#context.stdin.setRawMode(true);
    this.#screen.setFooter("");
    this.#draw();
  };

  #suspend(): void {
    this.#screen.setFooter("");
    this.#context.stdin.setRawMode(false);
    signal("SIGTSTP");
  }

  #resend(): void {
    const event = this.#history.selected;
    if (event === undefined) return;
    if (!this.#session?.resend(event)) this.#screen.write("  Cannot resend: no --forward-to target matches this event");
  }

  #show(): void {
    const event = this.#history.selected;
    if (event === undefined) return;
    this.#screen.write(detailsOf(event, this.#screen.styles, this.#screen.width()).join("\n"));
  }

  #togglePause(): void {
    this.#paused = !this.#paused;
    if (this.#paused) this.#session?.pause();
    else this.#session?.resume();
  }

  #clear(): void {
    this.#history.clear();
    this.#screen.clear();
  }

  #draw(): void {
    if (this.#running) this.#screen.setFooter(this.#footer());
  }

  /** As many words as fit into one line. */
  #footer(): string {
    const { styles } = this.#screen;
    const event = this.#history.selected;
    const { number, count } = this.#history.place;
    const status = event?.outcome === undefined ? "…" : String(event.outcome.status ?? "failed");
    const state = this.#paused ? "paused  " : "";
    const selected = event === undefined ? "no events yet" : `${number}/${count} ${event.type} ${status}`;
    const id = event === undefined ? "" : ` ${event.id}`;
    const pause = this.#paused ? "p resume" : "p pause";
    const keys = ["r resend", "↑↓ select", "enter details", pause, "c clear", "q quit"];
    const short = "r ↑ ↓ enter p c q";
    const candidates: [string, string][] = [
      [selected + id, keys.join("  ")],
      [selected, keys.join("  ")],
      [selected, short],
      [`${number}/${count}`, short],
    ];
    const available = this.#screen.width() - 1;
    const matches = ([left, right]: [string, string]) => 2 + state.length + left.length + 3 + right.length <= available;
    const [left, right] = candidates.find(matches) ?? ["", ""];
    return `${styles.accent("❯")} ${styles.warn(state)}${left} ${styles.dim(`│ ${right}`)}`;
  }
}

/** As if the terminal had sent it. */
function signal(name: NodeJS.Signals): void {
  process.kill(process.pid, name);
}

const MAX_EVENTS = 200;
/** Maximum number of payload characters in memory. */
const MAX_TEXT_LENGTH = 8 * 1024 * 1024;

export interface PastEvent {
  id: string;
  type: string;
  body: string;
  /** The result of its last attempt; undefined while it is in flight. */
  outcome: ForwardedReport | undefined;
}

/** The latest events, and the selected one: the newest, until another is selected. */
export class History {
  #events: PastEvent[] = [];
  #text = 0;
  #selected: PastEvent | undefined;

  add(event: Omit<PastEvent, "outcome">): void {
    this.#events.push({ ...event, outcome: undefined });
    this.#text += event.body.length;
    while (this.#events.length > 1 && (this.#events.length > MAX_EVENTS || this.#text > MAX_TEXT_LENGTH)) {
      const oldest = this.#events.shift()!;
      this.#text -= oldest.body.length;
      if (oldest === this.#selected) this.#selected = this.#events[0];
    }
  }

  finished(outcome: ForwardedReport): void {
    const event = this.#events.findLast(({ id }) => id === outcome.id);
    if (event !== undefined) event.outcome = outcome;
  }

  get selected(): PastEvent | undefined {
    return this.#selected ?? this.#events.at(-1);
  }

  /** Position of the selected one, from 1, and their number. */
  get place(): { number: number; count: number } {
    const { selected } = this;
    return { number: selected === undefined ? 0 : this.#events.indexOf(selected) + 1, count: this.#events.length };
  }

  /** Selects an older (-1) or a newer (1) one. After the newest, the selection follows new events. */
  move(step: -1 | 1): void {
    const { number, count } = this.place;
    const next = Math.min(Math.max(number - 1 + step, 0), count - 1);
    this.#selected = next === count - 1 ? undefined : this.#events[next];
  }

  clear(): void {
    this.#events = [];
    this.#text = 0;
    this.#selected = undefined;
  }
}

/** Renders everything about one event: payload, headers, response. */
export function detailsOf({ id, type, body, outcome }: PastEvent, styles: Styles, width: number): string[] {
  const rule = styles.dim("─".repeat(Math.min(width - 1, 80)));
  const lines = [rule, `${styles.strong(printable(type))} ${id}`, ""];
  if (outcome !== undefined) {
    lines.push(`${styles.strong("POST")} ${outcome.url.href}`);
    for (let i = 0; i + 1 < outcome.headers.length; i += 2) {
      lines.push(`${styles.dim(`${outcome.headers[i]!}:`)} ${printable(outcome.headers[i + 1]!)}`);
    }
    lines.push("");
  }
  lines.push(payloadOf(body, styles), "");
  if (outcome === undefined) return [...lines, styles.dim("no response yet"), rule];
  const { status, failure, durationMs, excerpt } = outcome;
  const answer =
    status === undefined ? styles.bad(printable(failure?.message ?? "failed")) : colorStatus(status, styles);
  lines.push(`${styles.strong("Response")} ${answer} ${styles.dim(`in ${formatDuration(durationMs)}`)}`);
  const folded = responseLines(excerpt, { ...layoutFor(width, foldText), indent: "" });
  return [...lines, ...(folded.length === 0 ? [styles.dim("(empty)")] : folded), rule];
}

function payloadOf(body: string, styles: Styles): string {
  try {
    return prettyJson(JSON.parse(body), styles);
  } catch {
    return printable(body);
  }
}
