import type { ChaosSummary, FaultTally } from "../../../relay/chaos.ts";
import type { Summary } from "../../../relay/report.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { wrapList } from "../../terminal/wrap.ts";
import type { Layout } from "./layout.ts";

/** The account at the end. */
export function summaryLines(summary: Summary, styles: Styles, { width }: Layout): string[] {
  const { received, forwarded, failed, duplicates, p50, p99, chaos } = summary;
  const timing =
    p50 === undefined || p99 === undefined ? "" : `; p50 ${formatDuration(p50)}, p99 ${formatDuration(p99)}`;
  const text = `Summary  ${received} received, ${forwarded} forwarded, ${failed} failed, ${duplicates} duplicates dropped${timing}`;
  const [first = "", ...rest] = width === undefined ? [text] : wrapList(text, width - 9);
  return [
    "",
    first.replace("Summary", styles.strong("Summary")),
    ...rest.map((line) => " ".repeat(9) + line),
    ...(chaos === undefined ? [] : chaosLines(chaos, styles)),
  ];
}

const EXPECTED: Readonly<Record<string, string>> = { badsig: "rejected", stale: "rejected" };

/** What the receiver did with each kind of fault, and whether that was right. */
function chaosLines({ seed, faults }: ChaosSummary, styles: Styles): string[] {
  const rows = Object.entries(faults).map(([fault, tally]) => {
    const expected = EXPECTED[fault] ?? "accepted";
    const isRight = tally.right === tally.sent;
    const mark = tally.sent === 0 ? styles.dim("–") : isRight ? styles.good("✓") : styles.bad("✗");
    const wrong = isRight ? "" : styles.bad(` should be ${expected}`);
    return `  ${mark} ${fault.padEnd(9)} ${String(tally.sent).padStart(5)} sent  ${outcomes(tally)}${wrong}`;
  });
  return [`${styles.strong("Chaos")}    seed=${seed} repeats the same faults`, ...rows];
}

function outcomes({ accepted, refused, failed }: FaultTally): string {
  const parts = Object.entries({ accepted, rejected: refused, failed }).filter(([, count]) => count > 0);
  return parts.map(([name, count]) => `${count} ${name}`).join(", ");
}
