import { labelOfFailure } from "../../../contract/failure-labels.ts";
import { isSuccess } from "../../../contract/is-success.ts";
import { isForgery } from "../../../relay/chaos-settings.ts";
import { printable } from "../../terminal/printable.ts";
import { cutMiddle, fitLine } from "../../terminal/spans.ts";
import type { Span } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { clockTime } from "../../terminal/traffic.ts";
import { acceptedForgery, COPY_TAGS } from "../lines.ts";
import type { Row } from "./history.ts";

const STATUS_WIDTH = 8;
const MIN_TYPE_WIDTH = 21;
const MAX_TYPE_WIDTH = 40;
const DURATION_WIDTH = 8;
const ID_WIDTH = 26;
const MARKED = "❯ ";
const UNMARKED = "  ";
/** Minimum widths of a row for these columns. */
const WITH_DURATION = 61;
const WITH_ID = 78;
const WITH_NOTE = 111;
/** Columns of a row with an ID besides its type, ID and note. */
const FIXED_WIDTH = 33;
/** Columns of a row without a duration besides its type and tags. */
const NARROW_WIDTH = 21;
/** Minimum number of columns that a long type leaves for the ID and the note. */
const MIN_ID_WIDTH = 17;
const MIN_NOTE_WIDTH = 22;

/** The widths of a row, and of two of its columns. */
export interface Columns {
  width: number;
  type: number;
  id: number;
}

/** Returns the widths of rows such as these: long types take columns from what follows. */
export function columnsOf(rows: readonly Row[], width: number): Columns {
  const longest = Math.min(MAX_TYPE_WIDTH, Math.max(...rows.map(({ event }) => event.type.length)));
  const atMost = (limit: number): number => Math.max(MIN_TYPE_WIDTH, Math.min(longest, limit));
  if (width < WITH_ID) return { width, type: atMost(width < WITH_DURATION ? width - NARROW_WIDTH : 0), id: 0 };
  const room = width - FIXED_WIDTH;
  const type = atMost(room - (width < WITH_NOTE ? MIN_ID_WIDTH : ID_WIDTH + MIN_NOTE_WIDTH));
  return { width, type, id: Math.min(ID_WIDTH, room - type) };
}

export function titlesOf({ width, type, id }: Columns): string {
  const titles = [UNMARKED, "TIME".padEnd(10), "STATUS".padEnd(STATUS_WIDTH + 1), "TYPE".padEnd(type + 2)];
  if (width >= WITH_DURATION) titles.push("DURATION".padStart(DURATION_WIDTH), "  ");
  if (width >= WITH_ID) titles.push("EVENT".padEnd(id + 2));
  if (width >= WITH_NOTE) titles.push("RESPONSE");
  return titles.join("").trimEnd();
}

/** Renders one row of the list. The selected row has a mark, and is highlighted if the terminal has color. */
export function rowLine(row: Row, isSelected: boolean, { width, type, id }: Columns): Span[] {
  const { event, at, outcome } = row;
  const all = tagsOf(row);
  // Next to a short type, the number of the attempt leaves the other columns their places.
  const isCounted = all === `attempt ${outcome?.attempt}` || (all === COPY_TAGS.resent && width < WITH_NOTE);
  const count = isCounted ? ` ×${outcome?.attempt}` : "";
  const countTag = event.type.length + count.length <= type ? count : "";
  const tags = countTag === "" ? all : "";
  const [status, style] = statusSpan(row);
  const spans: Span[] = [
    [isSelected ? MARKED : UNMARKED, "accent"],
    [clockTime(at), "dim"],
    ["  "],
    ...fitLine([[status.length > STATUS_WIDTH ? status.replace(" ", "") : status, style]], STATUS_WIDTH),
    [" "],
    ...fitLine([[printable(event.type)], [countTag, "warn"]], type),
  ];
  if (width >= WITH_DURATION) {
    const duration = outcome === undefined ? "" : formatDuration(outcome.durationMs);
    spans.push(["  "], [duration.padStart(DURATION_WIDTH)]);
  }
  if (width < WITH_ID) spans.push(["  "], [tags, "warn"]);
  else if (width < WITH_NOTE && tags !== "") {
    const tail = id - tags.length - 2;
    const shown = printable(event.id);
    const cut = tail > 4 ? ` …${shown.slice(-tail)}` : "";
    spans.push(["  "], [tags, "warn"], [shown.length <= tail + 1 ? ` ${shown}` : cut, "dim"]);
  } else spans.push(["  "], ...fitLine([[cutMiddle(printable(event.id), id), "dim"]], id));
  if (width >= WITH_NOTE) spans.push(["  "], [tags === "" ? "" : `${tags}  `, "warn"], noteSpan(row));
  const line = fitLine(spans, width);
  return isSelected ? [[line.map(([text]) => text).join(""), "inverse"]] : line;
}

/** The note as a column has room for it. */
function noteSpan(row: Row): Span {
  const { outcome } = row;
  if (outcome !== undefined && acceptedForgery(outcome) !== undefined) return ["must be rejected", "bad"];
  return [outcome?.failure?.brief ?? noteOf(row), "dim"];
}

/** Renders the result of the last attempt. */
export function statusSpan({ outcome, isForwarded, isOfReset }: Row): Span {
  if (outcome === undefined) return [isForwarded ? "…" : "–", "dim"];
  const { status, failure, copy, retryInMs } = outcome;
  const text = status === undefined ? labelOfFailure(failure?.code) : String(status);
  const shown = retryInMs === undefined || isOfReset ? text : `${text} ↻`;
  if (isForgery(copy)) return [shown, status === undefined || isSuccess(status) ? "bad" : "good"];
  if (isSuccess(status)) return [shown, "good"];
  return [shown, status !== undefined && status < 500 ? "warn" : "bad"];
}

/** Returns notes on how a delivery differs from a first attempt. */
export function tagsOf({ copy, event: { verified = true }, outcome }: Row): string {
  if (copy !== undefined) return copy === "edited" ? "edited and resent" : COPY_TAGS[copy];
  const own = verified === true ? [] : [signatureTag(verified)];
  const { attempt = 1, faults = [] } = outcome ?? {};
  const number = outcome?.copy === "resent" ? [COPY_TAGS.resent] : attempt > 1 ? [`attempt ${attempt}`] : [];
  return [...own, ...number, ...faults].join(", ");
}

function signatureTag({ code, signer }: Exclude<Row["event"]["verified"], true | undefined>): string {
  if (signer !== undefined) return `signature of ${signer}`;
  return code === "header_missing" ? "no signature" : "invalid signature";
}

const MAX_NOTE_LENGTH = 200;

/** Returns why the last attempt failed, or the first line of its response. */
export function noteOf({ outcome }: Row): string {
  if (outcome === undefined) return "";
  const { failure, excerpt } = outcome;
  const forgery = acceptedForgery(outcome);
  if (forgery !== undefined) return forgery;
  const [first = ""] = (failure?.message ?? excerpt.slice(0, MAX_NOTE_LENGTH)).trimStart().split(/\r?\n/, 1);
  return printable(first);
}
