import type { Output } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import type { Styles } from "../../terminal/styles.ts";
import type { ResourceView } from "../../terminal/view.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import type { Verdict } from "./finding.ts";

/** What `service doctor --json` prints of one check. */
export interface Result {
  id: string;
  title: string;
  status: Verdict;
  detail: string;
  advice: string | null;
}

export const RESULTS: ResourceView<Result> = {
  noun: "check",
  plural: "checks",
  fields: ["id", "title", "status", "detail", "advice"],
  columns: [
    { label: "Status", text: ({ status }) => status },
    { label: "Check", text: ({ id }) => id },
    { label: "Detail", text: ({ detail }) => detail },
    { label: "Advice", text: ({ advice }) => advice ?? "" },
  ],
  details: [],
};

const SIGNS: Readonly<Record<Verdict, { sign: string; style: keyof Styles }>> = {
  ok: { sign: "✓", style: "good" },
  warning: { sign: "!", style: "warn" },
  failed: { sign: "✗", style: "bad" },
  skipped: { sign: "–", style: "dim" },
};

const MIN_WIDTH = 30;

/** The results as a person reads them: a sign and a word each, and below it what to do. */
export function drawResults(results: readonly Result[], { styles, width }: Output): string[] {
  const titleWidth = Math.max(...results.map(({ title }) => title.length));
  return results.flatMap(({ title, status, detail, advice }) => {
    const { sign, style } = SIGNS[status];
    const lead = `${sign} ${status.padEnd(7)}  ${title.padEnd(titleWidth)}  `;
    const room = Math.max(MIN_WIDTH, width - lead.length);
    const indent = " ".repeat(width - lead.length < MIN_WIDTH ? 4 : lead.length);
    const [first = "", ...rest] = wrapWords(printable(detail), room);
    const todo = advice === null ? [] : wrapWords(`→ ${printable(advice)}`, room);
    return [
      `${styles[style](`${sign} ${status.padEnd(7)}`)}  ${styles.strong(title.padEnd(titleWidth))}  ${first}`,
      ...rest.map((line) => indent + line),
      ...todo.map((line) => indent + styles.accent(line)),
    ];
  });
}
