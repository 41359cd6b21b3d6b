import { printable } from "../../terminal/printable.ts";
import { wrapLine } from "../../terminal/spans.ts";
import type { Span } from "../../terminal/styles.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import { type Feed, offers } from "./feed.ts";
import { MAX_ROWS } from "./history.ts";

const keysOf = (signature: string): readonly (readonly [keys: string, text: string])[] => [
  ["↑ ↓  j k", "Select an event, or scroll the details or this help"],
  ["PgUp PgDn", "Move by a page"],
  ["g G", "Go to the first or the newest event; the list then follows new events"],
  ["enter", "Show the request and the response"],
  ["← →  h l", "Show the previous or next event in the details"],
  ["tab", "Show all output of the app and the platform, or go back"],
  ["esc", "Back"],
  ["/", "Filter by words in any place, or in one of these:"],
  ["", "type:order      The event type contains this text"],
  ["", "status:5        The status begins with this"],
  ["", "id:evt_0354     The event ID contains this text"],
  ["", "body:ada        The payload or the response contains this text"],
  ["", "!status:2       ! excludes"],
  ["w", "Explain: the cause, and the command that fixes it, as with service why"],
  ["r", `Resend, with ${signature}`],
  ["R", "Resend every event shown that failed"],
  ["e", "Edit the payload in $VISUAL or $EDITOR, and resend"],
  ["y", `Copy as a cURL command with ${signature}`],
  ["t", "Save as a fixture for service trigger --fixture"],
  ["o", "Open in the dashboard"],
  ["p", "Pause and resume forwarding"],
  ["c", "Clear the list"],
  ["q  Ctrl-C", "Quit; in this help, q closes it"],
];

/** Returns the keys, the settings of the session, and the limits, in lines of at most this width. */
export function helpOf(feed: Feed, width: number, hasLog: boolean): Span[][] {
  const signature = feed.signs ? "a fresh signature" : "the original signature";
  const keys = keysOf(signature).filter(([key]) => offers(feed, key) && (hasLog || key !== "tab"));
  const lines: Span[][] = [
    [["Keys", "strong"]],
    ...keys.map(([key, text]): Span[] => [[key.padEnd(LABEL_WIDTH), "accent"], [feed.runnable(text)]]),
    [],
    ...sessionLines(feed),
    [],
    [["History", "strong"]],
    ...wrapWords(`${LIMITS} ${feed.runnable(feed.archive)}`, width).map((line): Span[] => [[line]]),
  ];
  return lines.flatMap((line) => wrapLine(line, width, LABEL_WIDTH));
}

const LABEL_WIDTH = 11;
const LIMITS = `The list shows the last ${MAX_ROWS.toLocaleString("en-US")} deliveries, with at most 16 MB of text.`;

/** Returns where events come from and go to. */
export function sessionLines({ facts }: Feed): Span[][] {
  return [
    [["Session", "strong"]],
    ...facts.map(([label, text]): Span[] => [[label.padEnd(LABEL_WIDTH), "dim"], [printable(text)]]),
  ];
}
