import type { Waiting } from "../../../contract/listen.ts";
import { indentJson } from "../../../contract/rewrite-json.ts";
import { labelOfFailure } from "../../../contract/failure-labels.ts";
import { isSuccess } from "../../../contract/is-success.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { headerPairs } from "../../../relay/forward-headers.ts";
import type { ForwardedReport } from "../../../relay/report.ts";
import { jsonSpans } from "../../terminal/json.ts";
import { printable, printableJson } from "../../terminal/printable.ts";
import { wrapLine } from "../../terminal/spans.ts";
import type { Span } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { clockTime } from "../../terminal/traffic.ts";
import { acceptedForgery } from "../lines.ts";
import type { Row } from "./history.ts";
import { statusSpan, tagsOf } from "./row.ts";

/** Maximum number of characters of a body to show. */
const MAX_BODY_LENGTH = 64 * 1024;

type Line = readonly Span[];

/**
 * Returns the details of one delivery in lines of at most this width: event, request, response. `awaited` is what its next
 * attempt waits for besides its time.
 */
export function detailsOf(row: Row, width: number, awaited?: Waiting): Span[][] {
  return linesOf(row, awaited).flatMap((line) => wrapLine(line, width, 2));
}

function linesOf(row: Row, awaited: Waiting | undefined): Line[] {
  const { event, at, outcome, isForwarded, isOfReset } = row;
  const tags = tagsOf(row);
  const lines: Line[] = [
    [[printable(event.type), "strong"], [`  ${printable(event.id)}`], [tags === "" ? "" : `  ${tags}`, "warn"]],
    ...row.explanation,
    labelled(row.copy === undefined ? "Received" : "Sent", [`${clockTime(at)}${pathOf(row)}`]),
    ...(row.copy === undefined ? signatureLines(event) : []),
    ...row.earlier.map(({ at, number, status, failure, durationMs }) => {
      const result = `${status ?? labelOfFailure(failure)} in ${formatDuration(durationMs)}`;
      return labelled(`Attempt ${number}`, [`${clockTime(at)}  ${result}`]);
    }),
  ];
  if (outcome !== undefined) lines.push(...resultLines(row, outcome, awaited));
  else if (isForwarded) lines.push([["No response yet", "dim"]]);
  if (isOfReset) lines.push([["Dropped: the sandbox was reset", "dim"]]);
  else if (!isForwarded) lines.push([["Not forwarded: no target matches this event", "dim"]]);
  const request = requestLines(row);
  const response = outcome === undefined ? [] : responseLines(outcome);
  // A failed delivery is explained by the response.
  const parts = isSuccess(outcome?.status) ? [request, response] : [response, request];
  return [...lines, ...parts.flatMap((part) => (part.length === 0 ? [] : [[], ...part]))];
}

/** A capture accepts deliveries at every path, and forwards them to one. */
function pathOf({ copy, event: { path = "/" } }: Row): string {
  return copy !== undefined || path === "/" ? "" : ` at ${printable(path)}`;
}

function signatureLines({ verified }: Row["event"]): Line[] {
  if (verified === undefined) return [];
  if (verified === true) return [labelled("Signature", ["valid", "good"])];
  const problem = verified.code === "header_missing" ? "missing" : "invalid";
  return [labelled("Signature", [`${problem}: ${printable(verified.message)}`, "bad"])];
}

function labelled(label: string, ...spans: Line): Line {
  return [[`${label} `.padEnd(10), "dim"], ...spans];
}

/** The result of the last attempt, and what to do about it. */
function resultLines(row: Row, outcome: ForwardedReport, awaited: Waiting | undefined): Line[] {
  const { attempt, durationMs, failure, retryInMs } = outcome;
  const hint = failure && awaited ? `${awaited.remedy}.` : outcome.hint;
  const problem = failure?.message ?? acceptedForgery(outcome);
  const time = `${clockTime(row.endedAt)}  `;
  const lines = [labelled(`Attempt ${attempt}`, [time], statusSpan(row), [` in ${formatDuration(durationMs)}`])];
  if (problem !== undefined) lines.push([[printable(problem), "bad"]]);
  // The explanation has the same advice.
  if (hint !== undefined && row.explanation.length === 0) lines.push([["Hint: ", "accent"], [printable(hint)]]);
  if (retryInMs === undefined) return lines;
  const due = awaited === undefined ? `at ${clockTime(row.endedAt + retryInMs)}` : `once ${awaited.waiting}`;
  lines.push([[`next attempt ${due}`, "warn"]]);
  return lines;
}

function requestLines({ event, outcome }: Row): Line[] {
  const isIndented = (indentedJson(event.body) ?? event.body) !== event.body;
  const title: Line = [
    [outcome === undefined ? "Event" : "Request", "strong"],
    [isIndented ? "  JSON, indented" : "", "dim"],
  ];
  const url: Line[] = outcome === undefined ? [] : [[[`POST ${outcome.url.href}`]]];
  const headers = headerPairs(outcome?.headers ?? event.headers ?? []);
  return [title, ...url, ...headerLines(headers), ...bodyLines(event.body)];
}

function responseLines({ status, excerpt, responseHeaders }: ForwardedReport): Line[] {
  if (status === undefined && excerpt === "") return [];
  const title: Line = [["Response", "strong"], [status === undefined ? "" : ` ${status}`]];
  const body = excerpt === "" ? [[["(empty body)", "dim"] as const]] : bodyLines(excerpt);
  const isCut = Buffer.byteLength(excerpt) >= LIMITS.deliveryExcerptBytes - 3;
  const rest = `… only the first ${LIMITS.deliveryExcerptBytes / 1024} KiB are stored`;
  return [title, ...headerLines([...(responseHeaders ?? [])]), ...body, ...(isCut ? [[[rest, "dim"] as const]] : [])];
}

/** The headers, and an empty line after them. */
function headerLines(headers: readonly (readonly [name: string, value: string])[]): Line[] {
  const lines = headers.map(([name, value]): Line => [[`${printable(name)}: `, "dim"], [printable(value)]]);
  return lines.length === 0 ? [] : [...lines, []];
}

/** JSON is indented; other text keeps its lines. */
function bodyLines(body: string): Line[] {
  const json = indentedJson(body);
  const text = json ?? body;
  const lines: Line[] = text
    .slice(0, MAX_BODY_LENGTH)
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => (json === undefined ? [[printable(line)]] : jsonSpans(line)));
  if (text.length <= MAX_BODY_LENGTH) return lines;
  const kilobytes = Math.ceil((text.length - MAX_BODY_LENGTH) / 1024);
  return [...lines, [[`… ${kilobytes} KB more`, "dim"]]];
}

function indentedJson(body: string): string | undefined {
  try {
    return printableJson(indentJson(body));
  } catch {
    return undefined;
  }
}
