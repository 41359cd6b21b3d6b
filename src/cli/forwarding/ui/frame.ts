import { printable, printableOutput } from "../../terminal/printable.ts";
import { cutMiddle, cutText, fitLine, padStyled, widthOf, wrapLine } from "../../terminal/spans.ts";
import { paint, type Span, type Styles } from "../../terminal/styles.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import { acceptedForgery } from "../lines.ts";
import { offers } from "./feed.ts";
import { filterProblem, FILTER_SYNTAX } from "./filter.ts";
import { sessionLines } from "./help.ts";
import { MESSAGE_ROWS, MIN_SIZE } from "./layout.ts";
import type { Row } from "./history.ts";
import type { Model } from "./model.ts";
import { columnsOf, noteOf, rowLine, titlesOf } from "./row.ts";
import { counted, grouped } from "../../../contract/words.ts";

type Line = readonly Span[];
/** A line of the log has sequences for its styles. */
type ScreenLine = Line | string;

/** Returns the screen as lines, each exactly as wide as the terminal. */
export function frameOf(model: Model, styles: Styles): string[] {
  const { columns, rows } = model.size;
  const isTooSmall = columns < MIN_SIZE.columns || rows < MIN_SIZE.rows;
  const lines = isTooSmall ? smallScreen(model) : screen(model, model.clock.now());
  return Array.from({ length: rows }, (_, row) => {
    const line = lines[row] ?? [];
    if (typeof line === "string") return padStyled(line, columns);
    return printableOutput(paint(fitLine(line, columns), styles));
  });
}

/** The window is too small for the list, but events are still forwarded. */
function smallScreen({ size, history, question }: Model): Line[] {
  const { received, failed } = history.totals;
  return [
    [[`Needs ${MIN_SIZE.columns}×${MIN_SIZE.rows}, has ${size.columns}×${size.rows}`, "warn"]],
    [[`${received} received, ${failed} failed`]],
    [[question?.text ?? "q quit"]],
  ];
}

function screen(model: Model, now: number): ScreenLine[] {
  const body = [...bodyLines(model), ...logLines(model)];
  const free = body.length - 1 - body.findLastIndex((line) => line.length > 0);
  const message = messageLines(model, MESSAGE_ROWS + free);
  const shown = body.slice(0, body.length + MESSAGE_ROWS - message.length);
  return [stateLine(model, now), totalsLine(model), ...shown, ...message, keysLine(model)];
}

/** Renders the connection and the targets, or the time until the next attempt while disconnected. */
function stateLine({ lost, paused, feed, clock, size, others, awaited, question }: Model, now: number): Line {
  if (question !== undefined)
    return [
      [` ✗ ${question.text}`, "bad"],
      ["  Events wait.", "dim"],
    ];
  if (lost !== undefined) {
    const seconds = Math.max(Math.ceil((lost.retryAt - now) / 1000), 0);
    const next = seconds === 0 ? "connecting" : `attempt ${lost.failures + 1} in ${seconds} s`;
    return [[" ○ Reconnecting", "warn"], [`  ${next}: ${lost.reason.replace(/^connection refused: /, "")}`]];
  }
  const { target, routes } = feed.receivers;
  const routed = routes.length === 0 ? "" : `${counted(routes.length, "route")}, otherwise `;
  const to =
    target === undefined && routes.length === 0 ? "events are not forwarded" : `→ ${routed}${target?.href ?? "none"}`;
  const isWaiting = paused || awaited !== undefined;
  const state: Span = isWaiting ? [` ‖ ${paused ? "Paused" : "Waiting"}`, "warn"] : [` ● ${feed.state}`, "good"];
  const from = printable(feed.origin);
  // The message about them gives way to others.
  const shared = others === 0 ? "" : `  ${counted(others, "other session")}`;
  const ahead = `${shared}${clock.badge === undefined ? "" : `  ${clock.badge}`}`;
  const room = size.columns - widthOf(`${state[0]}${ahead}  `);
  const isTight = widthOf(`${from}  ${to}`) > room;
  const shownTo = isTight ? to.replace("http://", "") : to;
  const shownFrom = isTight ? feed.shortOrigin : from;
  const first: Line = [state, [ahead, "warn"], ["  "]];
  // The port and the path tell receivers apart.
  if (widthOf(`${shownFrom}  ${shownTo}`) > room) return [...first, [cutMiddle(shownTo, Math.max(room, 8))]];
  return [...first, [`${shownFrom}  `, "dim"], [shownTo]];
}

function totalsLine({ history, filter, rows, size, feed }: Model): Line {
  const { received, forwarded, failed, resolved } = history.totals;
  const { waiting, retrying, dropped } = history;
  const filteredOut = feed.filteredOut();
  const excluded = filteredOut === 0 ? "" : `  ${grouped(filteredOut)} filtered out`;
  const spans: Span[] = [[` ${grouped(received)} received${excluded}`], [`  ${grouped(forwarded)} forwarded`]];
  spans.push([`  ${grouped(failed)} failed`, failed > 0 ? "bad" : undefined]);
  if (resolved > 0) spans.push([`  ${grouped(resolved)} resolved by resend`, "good"]);
  if (retrying > 0) spans.push([`  ${grouped(retrying)} retrying`, "warn"]);
  if (waiting > 0) spans.push([`  ${grouped(waiting)} waiting`, "warn"]);
  const bound = dropped > 0 ? `last ${grouped(history.rows.length)} kept ` : "";
  const filtered = filter === "" ? "" : `filter: ${printable(filter)} (${grouped(rows.length)})  `;
  const room = size.columns - spans.reduce((sum, [text]) => sum + widthOf(text), 0) - widthOf(filtered + bound);
  if (room >= 2) return [...spans, [" ".repeat(room)], [filtered, "accent"], [bound, "dim"]];
  // Zeros would leave no room for the number of waiting events.
  const shown = spans.filter(([text]) => !text.startsWith("  0 "));
  return [...(filter === "" ? [] : [[` ${filtered.trimEnd()} `, "accent"] as const]), ...shown];
}

function bodyLines(model: Model): ScreenLine[] {
  const { view, log, size } = model;
  const { list, pane, isSplit } = model.layout;
  if (view === "log" && log !== undefined) {
    const shown = log.window(size.columns, pane.height, false);
    const place = log.below > 0 ? `${grouped(log.below)} newer ↓` : "";
    const title: Line = [...fitLine([[" LOG", "dim"]], pane.width + 1 - place.length), [place, "accent"]];
    return [title, ...shown, ...emptyLines(pane.height - shown.length)];
  }
  if (view === "list") return listLines(model, list);
  const right = paneLines(model, pane);
  if (!isSplit) return right.map((line) => [[" "], ...line]);
  const left = listLines(model, list);
  return left.map((line, row) => [...fitLine(line, list.width), ["│", "dim"], [" "], ...(right[row] ?? [])]);
}

/** Renders the end of the log below the list or the details. */
function logLines({ log, layout: { logRows }, size: { columns } }: Model): ScreenLine[] {
  if (log === undefined || logRows === 0) return [];
  const shown = log.window(columns, logRows - 1, true);
  return [[["─".repeat(columns), "dim"]], ...shown, ...emptyLines(logRows - 1 - shown.length)];
}

/** Renders the visible part of the details or of the help. */
function paneLines(model: Model, { width, height }: { width: number; height: number }): Line[] {
  const all = model.pane();
  // In a larger terminal, a smaller scroll position may show the rest.
  const first = Math.max(Math.min(model.scroll, all.length - height), 0);
  const last = Math.min(first + height, all.length);
  const { position, count } = model.window();
  const place = model.view === "help" ? "HELP" : `DETAILS ${grouped(position + 1)} of ${grouped(count)}`;
  const extent = all.length > height ? `lines ${first + 1}–${last} of ${all.length}` : "";
  const gap = " ".repeat(Math.max(width - place.length - extent.length, 2));
  const shown: Line[] = all.slice(first, last);
  return [[[place + gap + extent, "dim"]], ...shown, ...emptyLines(height - shown.length)];
}

function listLines(model: Model, { width, height }: { width: number; height: number }): Line[] {
  const { shown, line, position, count } = model.window();
  const newer = count - (position - line) - shown.length;
  const place = newer > 0 ? `${grouped(newer)} newer ↓` : "";
  const room = width - widthOf(place);
  const columns = columnsOf(model.history.rows, width);
  const titles: Line = [...fitLine([[titlesOf(columns).slice(0, room), "dim"]], room), [place, "accent"]];
  if (count === 0) return [titles, ...emptyList(model, width, height)];
  const rows = shown.map((row, at) => rowLine(row, at === line, columns));
  return [titles, ...rows, ...emptyLines(height - rows.length)];
}

function emptyList(model: Model, width: number, height: number): Line[] {
  const lines: Span[][] =
    model.filter === ""
      ? [
          [],
          ...sessionLines(model.feed),
          [],
          ...(model.lost === undefined
            ? invitation(model.feed)
            : [[[`Reconnecting: ${model.lost.reason}`, "warn"] as Span]]),
        ]
      : [[], [[filterProblem(model.filter) ?? "No event matches the filter."]], [["esc removes it.", "dim"]]];
  const shown = lines.flatMap((line) => wrapLine(line, width - 4, line.length > 1 ? 11 : 0)).slice(0, height);
  return [...shown.map((line): Line => [["  "], ...line]), ...emptyLines(height - shown.length)];
}

function invitation({ example, filteredOut, runnable }: Model["feed"]): Span[][] {
  const { command, unmet } = example;
  const count = filteredOut();
  const excluded = `${counted(count, "event was", "events were")} filtered out. To create one that passes`;
  return [
    [[`${count === 0 ? "Waiting for events. To create one" : excluded}, run in another terminal:`]],
    [[runnable(command), "accent"]],
    ...(unmet.length === 0 ? [] : [[[`Its event is shown only if ${unmet.join(" and ")}.`, "dim"] as Span]]),
  ];
}

/** Renders the filter being typed, a message, or the failure of the selected delivery; in at most this many rows. */
function messageLines(model: Model, rows: number): Line[] {
  const { typing, filter, message, selected, view, size, clock, paused, lost, awaited, question } = model;
  const { columns } = size;
  const sentence = (text: string, style: Span[1]) => sentenceLines(text, style, columns, rows);
  if (typing) {
    const problem = filterProblem(filter);
    return [
      [[" Filter: ", "accent"], [`${printable(filter)}_`], ["  enter keep  esc cancel", "dim"]],
      [[` ${problem ?? FILTER_SYNTAX}`, problem === undefined ? "dim" : "warn"]],
    ];
  }
  if (question !== undefined) return sentence(`${question.text}: ${question.keys.join(", ")}.`, "bad");
  if (message !== undefined && view !== "help" && clock.realNow() < message.until)
    return sentence(message.text, message.style);
  if (lost !== undefined) return sentence(`Lost: ${lost.reason}. Missed events follow after reconnecting.`, "warn");
  if (paused && selected?.isForwarded && selected.outcome === undefined) {
    return sentence("Not sent yet: forwarding is paused. p resumes it.", "dim");
  }
  if (awaited !== undefined) return sentence(`Events wait until ${awaited.waiting}.`, "dim");
  return sentence(view === "list" && selected !== undefined ? failureOf(selected) : "", "dim");
}

function sentenceLines(text: string, style: Span[1], columns: number, rows: number): Line[] {
  const all = wrapWords(text, columns - 2);
  const lines = all.slice(0, rows);
  // The details show the rest.
  if (all.length > lines.length) lines.push(cutText(`${lines.pop()!}…`, columns - 2));
  return [...lines.map((line): Line => [[` ${line}`, style]]), ...emptyLines(MESSAGE_ROWS - lines.length)];
}

function failureOf(row: Row): string {
  const { failure, hint, status = 0 } = row.outcome ?? {};
  if (row.outcome === undefined) return "";
  if (failure === undefined && status < 300 && acceptedForgery(row.outcome) === undefined) return "";
  const note = noteOf(row).trimEnd();
  if (hint === undefined) return note;
  const sentence = /[.?!]$|^$/.test(note) ? note : `${note}.`;
  // What applies in containers only is in the details.
  return `${sentence} ${printable(hint).replace(/ In a container, .*/, "")}`.trimStart();
}

/** The keys of the list, the most important ones first. */
const LIST_KEYS = "enter details, / filter, r resend, w why, ↑↓ move, e edit, y cURL, t fixture, o open".split(", ");
const LOG_KEYS = ["↑↓ scroll", "G newest", "tab back"];
const DETAIL_KEYS = "esc back, ↑↓ scroll, ←→ event, r resend, w why, e edit, y cURL, t fixture, o open".split(", ");
const HELP_KEYS = ["↑↓ scroll"];
const ALWAYS = ["? help", "q quit"];
const ALWAYS_IN_HELP = ["esc/q back", "Ctrl-C quit"];

/** Shows as many keys as fit; how to get help and to quit is always shown. */
function keysLine({ feed, view, paused, filter, size, log, question, history: { totals } }: Model): Line {
  const keys = { list: LIST_KEYS, details: DETAIL_KEYS, help: HELP_KEYS, log: LOG_KEYS }[view];
  const ofQuestion = question?.keys ?? [];
  const isTaken = (hint: string) => ofQuestion.some((key) => key.charAt(0) === hint.charAt(0));
  const own = keys.filter((hint) => offers(feed, hint.charAt(0)) && !isTaken(hint));
  const onEvents = view === "list" || view === "details";
  const canResend = own.includes("r resend") && totals.failed > 0;
  if (canResend) own.splice(own.indexOf("r resend") + 1, 0, "R all");
  if (onEvents && log !== undefined) own.splice(1, 0, "tab log");
  const always = view === "help" ? ALWAYS_IN_HELP : ALWAYS;
  const hints = [
    ...ofQuestion.filter((hint) => !always.includes(hint)),
    ...(paused ? ["p resume"] : []),
    ...(view === "list" && filter !== "" ? ["esc show all", ...own.filter((hint) => hint !== "/ filter")] : own),
  ];
  if (onEvents) hints.push(...(paused ? [] : ["p pause"]), "c clear");
  let room = size.columns - 2 - always.join("  ").length;
  const fitting = hints.filter((hint) => (room -= widthOf(hint) + 2) >= 0);
  return [[" "], ...[...fitting, ...always].flatMap(keySpans)];
}

function keySpans(hint: string): Span[] {
  const at = hint.indexOf(" ");
  return [
    [hint.slice(0, at), "accent"],
    [`${hint.slice(at)}  `, "dim"],
  ];
}

function emptyLines(count: number): Line[] {
  return Array.from({ length: Math.max(count, 0) }, () => []);
}
