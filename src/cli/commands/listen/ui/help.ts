import { printable } from "../../../terminal/printable.ts";
import { wrapLine } from "../../../terminal/spans.ts";
import type { Span } from "../../../terminal/styles.ts";
import { wrapWords } from "../../../terminal/wrap.ts";
import { factsOf } from "../lines.ts";
import { MAX_ROWS } from "./history.ts";

const KEYS = [
  ["↑ ↓  j k", "Select an event, or scroll the details or this help"],
  ["PgUp PgDn", "Move by a page"],
  ["g G", "Go to the first or the newest event; the list then follows new events"],
  ["enter", "Show the request and the response"],
  ["← →  h l", "Show the previous or next event in the details"],
  ["esc", "Back"],
  ["/", "Filter by words in the details of events; !word excludes"],
  ["r", "Resend, with a fresh signature"],
  ["e", "Edit the payload in $VISUAL or $EDITOR, and resend"],
  ["y", "Copy as a cURL command with a fresh signature, valid for 5 minutes"],
  ["t", "Save as a fixture for service trigger --fixture"],
  ["o", "Open in the dashboard"],
  ["p", "Pause and resume forwarding"],
  ["c", "Clear the list"],
  ["q  Ctrl-C", "Quit"],
] as const;

/** Returns the keys, the settings of the session, and the limits, in lines of at most this width. */
export function helpOf({ ready, setup }: SessionFacts, width: number): Span[][] {
  const lines: Span[][] = [
    [["Keys", "strong"]],
    ...KEYS.flatMap(([keys, text]) => labelled([keys.padEnd(LABEL_WIDTH), "accent"], text, width)),
    [],
    ...sessionLines({ ready, setup }),
    [],
    [["History", "strong"]],
    ...wrapWords(LIMITS, width).map((line): Span[] => [[line]]),
  ];
  return lines.flatMap((line) => wrapLine(line, width, LABEL_WIDTH));
}

function labelled(label: Span, text: string, width: number): Span[][] {
  const lines = wrapWords(text, width - LABEL_WIDTH);
  return lines.map((line, at) => [at === 0 ? label : [" ".repeat(LABEL_WIDTH)], [line]]);
}

const LABEL_WIDTH = 11;
const LIMITS = `The list shows the last ${MAX_ROWS.toLocaleString("en-US")} deliveries, with at most 16 MB of text. For older events, use the dashboard or service events list.`;

type SessionFacts = { ready: Parameters<typeof factsOf>[0]; setup: Parameters<typeof factsOf>[1] };

/** Returns where events come from and go to. */
export function sessionLines({ ready, setup }: SessionFacts): Span[][] {
  return [
    [["Session", "strong"]],
    [["account".padEnd(LABEL_WIDTH), "dim"], [`${ready.environment} of ${printable(ready.account)}`]],
    ...factsOf(ready, setup).map(([label, text]): Span[] => [[label.padEnd(LABEL_WIDTH), "dim"], [printable(text)]]),
  ];
}
