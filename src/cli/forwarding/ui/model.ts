import type { Waiting } from "../../../contract/listen.ts";
import { matchesSubscriptions } from "../../../contract/event-types.ts";
import { labelOfFailure } from "../../../contract/failure-labels.ts";
import { capitalized } from "../../../contract/words.ts";
import type { RelayedEvent } from "../../../relay/delivery.ts";
import type { ForwardedReport, Report } from "../../../relay/report.ts";
import type { EnvironmentClock } from "../../environment-time.ts";
import type { Size } from "../../terminal/full-screen.ts";
import { printable } from "../../terminal/printable.ts";
import type { Span } from "../../terminal/styles.ts";
import { gapText, hasFailed, othersText, resetText, restoredText } from "../lines.ts";
import { detailsOf } from "./details.ts";
import type { Feed } from "./feed.ts";
import { filterOf } from "./filter.ts";
import { helpOf } from "./help.ts";
import { History, type Row } from "./history.ts";
import { layoutOf, type View } from "./layout.ts";
import type { Log } from "./log.ts";

/** A line for the user, shown until a real time in Unix milliseconds. */
export interface Message {
  text: string;
  style: "good" | "warn" | "bad" | undefined;
  until: number;
  /** Returns true for a report after which the message is outdated, or hides what is more important. */
  outdatedBy?: ((report: Report) => boolean) | undefined;
  /** True if the message is about other sessions. It is outdated once they end. */
  isAboutOthers?: boolean;
}

/** A question, and what its keys do: `r restart`. */
export interface Question {
  text: string;
  keys: readonly string[];
  answer: (key: string) => void;
}

const MESSAGE_MS = 8_000;
const WARNING_MS = 30_000;

/** The state of the screen. Times are of the environment, in Unix milliseconds. */
export class Model {
  readonly history = new History();
  /** What the current session receives. */
  feed: Feed;
  /** Output of other programs, if they share the screen. */
  readonly log: Log | undefined;
  /** What events wait for, other than the user. */
  awaited: Waiting | undefined;
  /** A question that stays until one of its keys is pressed. */
  question: Question | undefined;
  readonly clock: Pick<EnvironmentClock, "now" | "realNow" | "badge">;
  size: Size;
  view: View = "list";
  /** What the help or the log covers. */
  #covered: "list" | "details" = "list";
  paused = false;
  /** The lost connection; undefined while connected. */
  lost: { reason: string; failures: number; retryAt: number } | undefined;
  message: Message | undefined;
  /** Sessions that listen to the same events. */
  others = 0;
  /** True while the user types a filter. */
  typing = false;
  /** First visible line of the details or the help. */
  scroll = 0;
  #filter = "";
  #filterBefore = "";
  #matches: ((row: Row) => boolean) | undefined;
  /** The selected row; undefined while following the newest one. */
  #selected: Row | undefined;
  /** Receivers that did not respond to the last attempt. */
  readonly #down = new Set<string>();
  /** Results of the resends of the last key press, with their counts. */
  readonly #resent = new Map<string, number>();
  /** Continues `Resent evt_1` in the message about the last resend. */
  #howResent = "";
  /** The line of the list, from 0, that shows the selected row. */
  #offset = 0;
  #details: { row: Row; version: number; width: number; awaited: Waiting | undefined; lines: Span[][] } | undefined;

  constructor(feed: Feed, clock: Pick<EnvironmentClock, "now" | "realNow" | "badge">, size: Size, log?: Log) {
    this.feed = feed;
    this.log = log;
    this.clock = clock;
    this.size = size;
  }

  get layout() {
    return layoutOf(this.size, this.view, this.log !== undefined);
  }

  get filter(): string {
    return this.#filter;
  }

  /** The rows that match the filter, oldest first, and the selected one, whose outcome may have changed since. */
  get rows(): readonly Row[] {
    const { rows } = this.history;
    const matches = this.#matches;
    return matches === undefined ? rows : rows.filter((row) => row === this.#selected || matches(row));
  }

  /** The shown events whose last delivery failed, and how many of them the filter hides. */
  failed(): { shown: readonly Row[]; hidden: number } {
    const all = this.history.failed();
    const matches = this.#matches;
    const shown = matches === undefined ? all : all.filter((row) => row === this.#selected || matches(row));
    return { shown, hidden: all.length - shown.length };
  }

  get selected(): Row | undefined {
    return this.#selected ?? this.rows.at(-1);
  }

  /** The visible rows, the position of the selected row among all rows (from 0), and the line that shows it. */
  window(): { shown: readonly Row[]; position: number; line: number; count: number } {
    const { rows } = this;
    const height = this.layout.list.height;
    const position = this.#positionIn(rows);
    const offset = this.#selected === undefined ? height - 1 : Math.min(this.#offset, height - 1);
    const top = Math.max(Math.min(position - offset, rows.length - height), 0);
    return { shown: rows.slice(top, top + height), position, line: position - top, count: rows.length };
  }

  apply(report: Report, now: number): void {
    if (this.message?.outdatedBy?.(report)) this.message = undefined;
    switch (report.event) {
      case "received":
        this.history.received(report, this.#isForwarded(report.type), now);
        return;
      case "forwarded":
        this.history.ended(report, now);
        if (report.resend !== undefined) this.#sayResent(report);
        return this.#notice(report);
      case "duplicate":
        this.history.totals.duplicates += 1;
        return;
      case "lost":
      case "retrying": {
        const failures = report.event === "lost" ? 0 : report.failures;
        const reason = printable(report.reason.message.replace(/\.$/, ""));
        this.lost = { reason, failures, retryAt: now + report.retryInMs };
        return;
      }
      case "restored":
        this.lost = undefined;
        return this.say(`Reconnected ${restoredText(report)}`, "good", ({ event }) => event === "received");
      case "gap":
        this.history.dropWaiting(report.dropped ?? []);
        return this.say(gapText(report), "bad");
      case "reset":
        this.history.dropWaiting(report.dropped);
        return this.say(resetText(report), "warn");
      case "hint":
        return this.say(report.message, "warn", (later) => isSuperseded(report.url, later));
      case "joined":
        return this.sayOthers(report.others);
      case "left":
        this.others = report.others;
        if (!this.message?.isAboutOthers) return;
        this.message = undefined;
        if (report.others > 0) this.sayOthers(report.others);
        return;
      case "ready":
      case "summary":
    }
  }

  /** Offers to resend what failed while the receiver was down. */
  #notice({ status, url }: ForwardedReport): void {
    if (status === undefined) return void this.#down.add(url.origin);
    if (!this.#down.delete(url.origin)) return;
    const failed = this.failed().shown.length;
    if (failed > 0) this.say(`${failed} failed; R resends ${failed === 1 ? "it" : "them"}`, undefined, isFailure);
  }

  /** Shows how the receiver responded to resends, because the filter may hide their rows. */
  #sayResent({ id, status, failure }: ForwardedReport): void {
    const result = String(status ?? labelOfFailure(failure?.code));
    this.#resent.set(result, (this.#resent.get(result) ?? 0) + 1);
    const counts = [...this.#resent];
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const results = counts.map(([text, count]) => (total === 1 ? text : `${count} × ${text}`));
    const how = this.#howResent;
    const text =
      total === 1 && how !== "" ? `Resent ${id}${how} (${result})` : `Resent ${total}: ${results.join(", ")}`;
    this.say(text, undefined, isFailure);
  }

  sayOthers(count: number): void {
    this.others = count;
    this.say(othersText(count), "warn");
    this.message!.isAboutOthers = true;
  }

  /** Shows a message for a few seconds, or until it is outdated. */
  say(text: string, style?: Message["style"], outdatedBy?: Message["outdatedBy"]): void {
    const until = this.clock.realNow() + (style === "warn" || style === "bad" ? WARNING_MS : MESSAGE_MS);
    this.message = { text: capitalized(printable(text)), style, until, outdatedBy };
  }

  /** Selects an older (negative) or newer row. After the newest row, the selection follows new rows. */
  move(step: number): void {
    const { rows } = this;
    const { line, position } = this.window();
    if (rows.length === 0) return;
    const next = Math.max(Math.min(position + step, rows.length - 1), 0);
    const { height } = this.layout.list;
    this.#offset = Math.max(Math.min(line + next - position, height - 1), 0);
    this.#select(rows[next]);
    this.scroll = 0;
  }

  /** Adds the row of an edited event, and selects it. */
  addEdited(event: RelayedEvent): Row {
    const row = this.history.edited(event, this.clock.now());
    this.#offset = this.layout.list.height - 1;
    this.#select(row);
    this.scroll = 0;
    return row;
  }

  /** Records that a row is sent. `how` continues `Resent evt_1`. */
  resending(row: Row, number: number, how: string): void {
    if (!this.history.isResending) this.#resent.clear();
    this.#howResent = how;
    this.history.resending(row, number);
  }

  /** Shows the details of the selected row, the help, the log, or the list. */
  show(view: View): void {
    if (view === this.view || (view === "details" && this.selected === undefined)) return;
    const { line } = this.window();
    if (this.view === "list" || this.view === "details") this.#covered = this.view;
    this.log?.follow();
    this.view = view;
    this.scroll = 0;
    this.#offset = line;
    this.#select(this.selected);
  }

  /** Returns to the list, or from the help or the log to what it covers; in the list, clears the filter and the message. */
  back(): void {
    this.message = undefined;
    if (this.view === "list") this.setFilter("");
    else this.show(this.view !== "details" && this.selected !== undefined ? this.#covered : "list");
  }

  /** The lines of the details or of the help, without scrolling. */
  pane(): Span[][] {
    const { width } = this.layout.pane;
    if (this.view === "help") return helpOf(this.feed, width, this.log !== undefined);
    const row = this.selected;
    if (row === undefined || this.view === "log") return [];
    const known = this.#details;
    const { awaited } = this;
    const isSame = known?.version === row.version && known.width === width && known.awaited === awaited;
    if (known?.row === row && isSame) return known.lines;
    // Payloads may be large.
    const lines = detailsOf(row, width, awaited);
    this.#details = { row, version: row.version, width, awaited, lines };
    return lines;
  }

  scrollBy(lines: number): void {
    const { height } = this.layout.pane;
    if (this.view === "log") return this.log?.scrollBy(lines, height);
    this.scroll = Math.max(Math.min(this.scroll + lines, this.pane().length - height), 0);
  }

  beginFilter(): void {
    this.typing = true;
    this.#filterBefore = this.#filter;
  }

  /** Finishes typing. Keeps the new filter, or restores the previous one. */
  endFilter(isAccepted: boolean): void {
    this.typing = false;
    if (!isAccepted) this.setFilter(this.#filterBefore);
  }

  setFilter(text: string): void {
    // A message about rows that may no longer be shown.
    if (text !== this.#filter) this.message = undefined;
    this.#filter = text;
    this.#matches = filterOf(text);
    if (this.#selected !== undefined && this.#matches?.(this.#selected) === false) this.#select(undefined);
  }

  clear(): void {
    this.history.clear();
    this.#select(undefined);
    this.view = "list";
  }

  #select(row: Row | undefined): void {
    const shown = this.view === "list" || this.view === "details" ? this.view : this.#covered;
    const isFollowing = row === this.rows.at(-1) && shown === "list";
    this.#selected = isFollowing ? undefined : row;
    this.history.pinned = this.#selected;
  }

  /** Far from the end only if an older row is selected, which is rare. */
  #positionIn(rows: readonly Row[]): number {
    return this.#selected === undefined ? rows.length - 1 : rows.lastIndexOf(this.#selected);
  }

  #isForwarded(type: string): boolean {
    const { target, routes } = this.feed.receivers;
    return target !== undefined || routes.some(({ subscription }) => matchesSubscriptions([subscription], type));
  }
}

/** Returns true for an event that failed. Its row says why, where a message would hide it. */
function isFailure(report: Report): boolean {
  return report.event === "forwarded" && hasFailed(report);
}

/** Returns true if the receiver of a hint has responded, or another one has failed. */
function isSuperseded(receiver: URL, report: Report): boolean {
  if (report.event !== "forwarded") return false;
  return report.url.origin === receiver.origin ? report.status !== undefined : isFailure(report);
}
