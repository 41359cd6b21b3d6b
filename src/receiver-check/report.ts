import type { Check, Group, Level, Status } from "./check.ts";

/** The result of one check in `--json`. */
export interface CheckResult {
  id: string;
  title: string;
  group: Group;
  rule: string;
  level: Level;
  status: Status;
  sent: string;
  seen: string;
  /** The meaning of the failure and its fix; null if it passed. */
  explanation: string | null;
  fix: string | null;
  duration_ms: number;
}

type Grade = "A" | "B" | "C" | "D" | "F";

/** The report on one receiver. */
export interface ReceiverReport {
  object: "receiver_check";
  url: string;
  /** True if no required check failed. */
  passed: boolean;
  grade: Grade;
  /** The grade in a sentence. */
  verdict: string;
  counts: Record<Status, number>;
  duration_ms: number;
  checks: CheckResult[];
}

/** Maximum number of failed required checks for a C. */
const FEW = 2;

/** Returns the grade and its reason. `checks` contains the meaning of failures. */
export function gradeOf(results: readonly CheckResult[], checks: readonly Check[]): { grade: Grade; verdict: string } {
  const forgeries = new Set(checks.filter(({ forgery }) => forgery).map(({ id }) => id));
  const optional = new Set(checks.filter(({ optional }) => optional).map(({ id }) => id));
  const failed = results.filter(({ status }) => status === "failed");
  const required = failed.filter(({ level }) => level === "required");
  const unjudged = results.filter(({ id, status }) => status === "skipped" && !optional.has(id)).length;
  if (results[0]?.status !== "passed") return { grade: "F", verdict: "The receiver does not accept valid deliveries." };
  if (required.some(({ id }) => forgeries.has(id))) {
    return { grade: "F", verdict: "The receiver accepts deliveries that it must reject, or fails on them." };
  }
  if (required.length > FEW) return { grade: "D", verdict: `${required.length} required checks failed.` };
  if (required.length > 0) {
    return { grade: "C", verdict: `${required.length} required check${required.length === 1 ? "" : "s"} failed.` };
  }
  if (failed.length > 0) return { grade: "B", verdict: "Every required check passed; an advisory one did not." };
  if (unjudged > 0) return { grade: "B", verdict: `Nothing failed, but ${unjudged} could not run.` };
  return { grade: "A", verdict: "All checks passed." };
}
