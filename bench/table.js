// The table of a run of the benchmarks.
import { verdictOf } from "./goals.js";

const HEADINGS = ["Figure", "Goal", "Measured", "Baseline", "Ratio", "Spread", "Met"];

/**
 * Returns rows as a table, and how many of the goals are met. A row is `{ name, figure, value, baseline, ratio,
 * spread, goal }`: `figure`, `baseline` and `spread` are text, `value` and `ratio` numbers, `goal` from goals.js.
 */
export function tableOf(rows) {
  const lines = rows.map((row) => [
    row.name,
    row.goal?.text ?? "",
    row.figure,
    row.baseline ?? "",
    row.ratio?.toFixed(2) ?? "",
    row.spread ?? "",
    verdictOf(row),
  ]);
  const verdicts = rows.map(verdictOf).filter((verdict) => verdict !== "");
  const met = verdicts.filter((verdict) => verdict === "yes").length;
  const table = [HEADINGS, HEADINGS.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  return `${table}\n\n${met} of ${verdicts.length} goals met.`;
}
