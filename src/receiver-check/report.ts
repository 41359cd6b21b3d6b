import type { Group, Level, Status } from "./check.ts";
import type { Grade } from "./grade.ts";

/** What became of one check, as `--json` prints it. */
export interface CheckResult {
  id: string;
  title: string;
  group: Group;
  rule: string;
  level: Level;
  status: Status;
  sent: string;
  seen: string;
  /** What the failure means, and what to do about it; null where there is none. */
  explanation: string | null;
  fix: string | null;
  duration_ms: number;
}

/** The whole check of one receiver. */
export interface ReceiverReport {
  object: "receiver_check";
  url: string;
  /** True where no required check failed. */
  passed: boolean;
  grade: Grade;
  /** The grade in a sentence. */
  verdict: string;
  counts: Record<Status, number>;
  duration_ms: number;
  checks: CheckResult[];
}
