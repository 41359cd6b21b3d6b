import { formatDuration, formatResponse, isAccepted, isDisconnection, isRejected, type Response } from "./exchange.ts";
import type { Subject } from "./subject.ts";

const DELIVERIES = "docs/receiving-webhooks.md#deliveries";
const SIGNATURES = "docs/receiving-webhooks.md#verify-signatures";

/** The rule that the checks of each group are based on. */
export const RULES = {
  Accepting: DELIVERIES,
  "Raw body": SIGNATURES,
  Rejecting: SIGNATURES,
  Time: SIGNATURES,
  Rotation: SIGNATURES,
  Duplicates: DELIVERIES,
  Load: DELIVERIES,
} as const;
export type Group = keyof typeof RULES;

/** A required check determines the exit code; an advisory one does not. */
export type Level = "required" | "advisory";

/**
 * `skipped`: the check could not run. `not_applicable`: the provider's deliveries have nothing to check. `seen` contains
 * the reason.
 */
export type Status = "passed" | "failed" | "skipped" | "not_applicable";

export interface Finding {
  status: Status;
  sent: string;
  /** A description of the response, or of what was observed. */
  seen: string;
  /** Replaces the check's own text if the observation is more specific. */
  explanation?: string;
  fix?: string;
  /** True if the receiver accepted a delivery that it must reject. */
  accepted?: boolean;
  /** True if the receiver neither accepted nor rejected such a delivery, but failed. */
  broken?: boolean;
  /** True if a connection failed: the receiver may be down, or was for a moment. */
  disconnected?: boolean;
}

/** One rule that a receiver must, or should, follow. */
export interface Check {
  /** Stable, kebab-case. */
  id: string;
  title: string;
  group: Group;
  level: Level;
  /** The meaning of a failure. */
  explanation: string;
  fix: string;
  /** Why the provider's deliveries have nothing to check. */
  notApplicable?: string | false | undefined;
  /** True if a failure allows forged deliveries: then nothing else matters. */
  forgery?: true;
  /** True if it needs a feature that not every receiver has. If it is skipped, it does not affect the grade. */
  optional?: true;
  /** True if it can run concurrently with adjacent checks, because its deliveries do not depend on theirs. */
  together?: true;
  run(subject: Subject): Promise<Finding>;
}

/** Returns a delivery of a check, by a name that distinguishes it from the others. */
export interface Variant {
  name: string;
  response: Response;
}

/** Passes if every delivery got 2xx. */
export function acceptedAll(sent: string, variants: readonly Variant[]): Finding {
  return judge(sent, variants, isAccepted);
}

/** Passes if every delivery got 4xx. */
export function rejectedAll(sent: string, variants: readonly Variant[]): Finding {
  const finding = judge(sent, variants, isRejected);
  if (variants.some(({ response }) => isAccepted(response))) return { ...finding, accepted: true };
  const broken = variants.find(({ response }) => !isRejected(response));
  if (broken === undefined) return finding;
  return { ...finding, ...BREAKDOWNS[breakdownOf(broken.response)], broken: true };
}

const BREAKDOWNS = {
  failed: {
    explanation:
      "The receiver did not accept the delivery, but it failed instead of rejecting it. Anyone who knows its URL can cause this at will.",
    fix: "Catch errors of the verification, check lengths before a constant-time comparison, and respond with 400.",
  },
  silent: {
    explanation: "The receiver sent no response, which holds a connection open on both sides.",
    fix: "Respond with 400 if the verification fails, instead of returning without a response.",
  },
  elsewhere: {
    explanation: "Redirects are not followed, and say nothing about the signature.",
    fix: "Respond with 400 in the receiver itself. Exempt its path from sign-in pages and other redirects.",
  },
};

function breakdownOf({ status, failure }: Response): keyof typeof BREAKDOWNS {
  if (status !== undefined && status < 400) return "elsewhere";
  return failure?.kind === "timeout" ? "silent" : "failed";
}

function judge(sent: string, variants: readonly Variant[], isRight: (response: Response) => boolean): Finding {
  const wrong = variants.filter(({ response }) => !isRight(response));
  if (wrong.length === 0) return { status: "passed", sent, seen: statusesOf(variants) };
  const seen = wrong
    .map(({ name, response }) =>
      variants.length === 1 ? formatResponse(response) : `${name}: ${formatResponse(response)}`,
    )
    .join("; ");
  return { status: "failed", sent, seen, disconnected: wrong.some(({ response }) => isDisconnection(response)) };
}

function statusesOf(variants: readonly Variant[]): string {
  const statuses = [...new Set(variants.map(({ response }) => response.status))].join(" and ");
  return `${statuses} in ${formatDuration(Math.max(...variants.map(({ response }) => response.milliseconds)))}`;
}

export function countsOf(checks: readonly { status: Status }[]): Record<Status, number> {
  const counts = { passed: 0, failed: 0, skipped: 0, not_applicable: 0 };
  for (const { status } of checks) counts[status] += 1;
  return counts;
}

/** A check that could not run. */
export function skipped(sent: string, why: string): Finding {
  return { status: "skipped", sent, seen: why };
}
