import { type Finding, isTrouble, sentence } from "../explain/finding.ts";
import { printable } from "./terminal/printable.ts";
import { foldText } from "./terminal/spans.ts";
import type { Span } from "./terminal/styles.ts";

/** Renders what happened, the evidence, and what to do. Commands are not wrapped, so that they can be copied. */
export function findingLines(finding: Finding, label: string, width: number): Span[][] {
  const { summary, evidence, action, fix } = finding;
  const lines = foldText(`${label}: ${sentence(summary)}`, width, 6).map((line, i): Span[] =>
    i === 0 ? [[label, isTrouble(finding) ? "warn" : "good"], [line.slice(label.length)]] : [[line]],
  );
  if (evidence !== null) lines.push(...foldText(evidence, width, 6).map((line): Span[] => [[line, "dim"]]));
  if (action !== null) {
    lines.push(...foldText(fix === null ? sentence(action) : `${action}:`, width).map((line): Span[] => [[line]]));
  }
  if (fix !== null) lines.push([["  "], [printable(fix), "accent"]]);
  return lines;
}
