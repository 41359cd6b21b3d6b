import { isSuccess } from "../../../contract/is-success.ts";
import { printable } from "../../terminal/printable.ts";
import { fitLine } from "../../terminal/spans.ts";
import type { Span } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { clockTime } from "../../terminal/traffic.ts";
import { COPY_TAGS } from "../lines.ts";
import type { Row } from "./history.ts";

const STATUS_WIDTH = 8;
const TYPE_WIDTH = 21;
const DURATION_WIDTH = 8;
const ID_WIDTH = 26;
const MARKED = "❯ ";
const UNMARKED = "  ";
/** Minimum widths of a row for these columns. */
const WITH_DURATION = 61;
const WITH_ID = 78;
const WITH_NOTE = 111;

/** Returns the column titles. */
export function titlesOf(width: number): string {
  const titles = [UNMARKED, "TIME".padEnd(10), "STATUS".padEnd(STATUS_WIDTH + 1), "TYPE".padEnd(TYPE_WIDTH + 2)];
  if (width >= WITH_DURATION) titles.push("DURATION".padStart(DURATION_WIDTH), "  ");
  if (width >= WITH_ID) titles.push("EVENT".padEnd(ID_WIDTH + 2));
  if (width >= WITH_NOTE) titles.push("RESPONSE");
  return titles.join("").trimEnd();
}

/** Renders one row of the list. The selected row has a mark, and is highlighted if the terminal has color. */
export function rowLine(row: Row, isSelected: boolean, width: number): Span[] {
  const { event, at, outcome } = row;
  const tags = tagsOf(row);
  const [status, style] = statusSpan(row);
  const spans: Span[] = [
    [isSelected ? MARKED : UNMARKED, "accent"],
    [clockTime(at), "dim"],
    ["  "],
    ...fitLine([[status.length > STATUS_WIDTH ? status.replace(" ", "") : status, style]], STATUS_WIDTH),
    [" "],
    ...fitLine([[printable(event.type)]], TYPE_WIDTH),
  ];
  if (width >= WITH_DURATION) {
    const duration = outcome === undefined ? "" : formatDuration(outcome.durationMs);
    spans.push(["  "], [duration.padStart(DURATION_WIDTH)]);
  }
  if (width < WITH_ID) spans.push(["  "], [tags, "warn"]);
  else if (width < WITH_NOTE && tags !== "") {
    const tail = ID_WIDTH - tags.length - 2;
    spans.push(["  "], [tags, "warn"], [tail > 4 ? ` …${printable(event.id).slice(-tail)}` : "", "dim"]);
  } else spans.push(["  "], ...fitLine([[printable(event.id), "dim"]], ID_WIDTH));
  if (width >= WITH_NOTE) spans.push(["  "], [tags === "" ? "" : `${tags}  `, "warn"], [noteOf(row), "dim"]);
  const line = fitLine(spans, width);
  return isSelected ? [[line.map(([text]) => text).join(""), "inverse"]] : line;
}

/** Renders the result of the last attempt. */
export function statusSpan({ outcome, isForwarded, isOfReset }: Row): Span {
  if (outcome === undefined) return [isForwarded ? "…" : "–", "dim"];
  const { status, failure, copy, retryInMs } = outcome;
  const isForgery = copy === "badsig" || copy === "stale";
  const text = status === undefined ? shortFailure(failure?.code) : String(status);
  const shown = retryInMs === undefined || isOfReset ? text : `${text} ↻`;
  if (isForgery) return [shown, status === undefined || isSuccess(status) ? "bad" : "good"];
  if (isSuccess(status)) return [shown, "good"];
  return [shown, status !== undefined && status < 500 ? "warn" : "bad"];
}

function shortFailure(code: string | undefined): string {
  return code !== undefined && code.length < STATUS_WIDTH ? code : "failed";
}

/** Returns notes on how a delivery differs from a first attempt. */
export function tagsOf({ copy, event: { verified = true }, outcome }: Row): string {
  if (copy !== undefined) return copy === "edited" ? "edited and resent" : COPY_TAGS[copy];
  const own = verified === true ? [] : ["invalid signature"];
  const { attempt = 1, faults = [] } = outcome ?? {};
  return [...own, ...(attempt > 1 ? [`attempt ${attempt}`] : []), ...faults].join(", ");
}

/** Maximum number of characters of a response in a row. */
const MAX_NOTE_LENGTH = 200;

/** Returns why the last attempt failed, or the first line of its response. */
export function noteOf({ outcome }: Row): string {
  if (outcome === undefined) return "";
  const { failure, excerpt } = outcome;
  const [first = ""] = (failure?.message ?? excerpt.slice(0, MAX_NOTE_LENGTH)).trimStart().split(/\r?\n/, 1);
  return printable(first);
}
