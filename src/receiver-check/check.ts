import type { Response } from "./response.ts";
import type { Subject } from "./subject.ts";

export const GROUPS = ["Accepting", "Raw body", "Refusing", "Time", "Rotation", "Duplicates", "Load"] as const;
export type Group = (typeof GROUPS)[number];

/** A required check determines the exit code; an advisory one does not. */
export type Level = "required" | "advisory";

/** `skipped`: it could not run, and `seen` says why. */
export type Status = "passed" | "failed" | "skipped";

/** The result of one check. */
export interface Finding {
  status: Status;
  /** A description of what was sent. */
  sent: string;
  /** A description of the response, or of what was observed. */
  seen: string;
  /** Replaces the check's own text if the observation tells more. */
  explanation?: string;
  fix?: string;
  /** True if a connection failed: the receiver may be down, or was for a moment. */
  disconnected?: boolean;
}

/** One rule that a receiver must, or should, follow. */
export interface Check {
  /** Stable, kebab-case. */
  id: string;
  title: string;
  group: Group;
  /** The rule that the check is based on. */
  rule: string;
  level: Level;
  /** The meaning of a failure. */
  explanation: string;
  /** How to fix a failure. */
  fix: string;
  /** True if a failure allows forged deliveries: then nothing else counts. */
  forgery?: true;
  /** True if it needs something that not every receiver has. If it is skipped, it does not count in the grade. */
  optional?: true;
  /** True if it may run concurrently with its neighbors: its deliveries do not depend on theirs. */
  together?: true;
  run(subject: Subject): Promise<Finding>;
}

/** Returns a delivery of a check, by a name that distinguishes it from the others. */
export interface Variant {
  name: string;
  response: Response;
}
