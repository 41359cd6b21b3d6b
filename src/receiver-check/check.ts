import type { Answer } from "./answer.ts";
import type { Subject } from "./subject.ts";

export const GROUPS = ["Accepting", "Raw body", "Refusing", "Time", "Rotation", "Duplicates", "Load"] as const;
export type Group = (typeof GROUPS)[number];

/** A required check decides the exit code; an advisory one advises. */
export type Level = "required" | "advisory";

/** `skipped`: it could not be judged, and `seen` says why. */
export type Status = "passed" | "failed" | "skipped";

/** What one check found out. */
export interface Finding {
  status: Status;
  /** What was sent, in words. */
  sent: string;
  /** What came back, or what was observed. */
  seen: string;
  /** In place of the check's own, where what was seen tells more. */
  explanation?: string;
  fix?: string;
  /** True where a connection failed: the receiver may be gone, or was for a moment. */
  disconnected?: boolean;
}

/** One thing that a receiver must do, or had better do. */
export interface Check {
  /** Stable, kebab-case. */
  id: string;
  title: string;
  group: Group;
  /** Where the platform specification asks for it. */
  rule: string;
  level: Level;
  /** What a failure means. */
  explanation: string;
  /** What to do about a failure. */
  fix: string;
  /** True where a failure lets a forger in: nothing else counts then. */
  forgery?: true;
  /** True where it needs something that not every receiver has: unjudged it does not count in the grade. */
  optional?: true;
  /** True where it may run beside its neighbours: what it sends does not depend on what they send. */
  together?: true;
  run(subject: Subject): Promise<Finding>;
}

/** A delivery of a check, by a name that tells it from the others. */
export interface Variant {
  name: string;
  answer: Answer;
}
