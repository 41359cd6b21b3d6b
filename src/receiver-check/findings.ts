import { type Response, formatDuration, formatResponse, isAccepted, isDisconnection, isRejected } from "./response.ts";
import type { Finding, Variant } from "./check.ts";

/** Passes if every delivery got 2xx. */
export function acceptedAll(sent: string, variants: readonly Variant[]): Finding {
  return judge(sent, variants, isAccepted);
}

/** Passes if every delivery got 4xx. */
export function rejectedAll(sent: string, variants: readonly Variant[]): Finding {
  const finding = judge(sent, variants, isRejected);
  const broken = variants.find(({ response }) => !isRejected(response) && !isAccepted(response));
  if (finding.status === "passed" || broken === undefined || variants.some(({ response }) => isAccepted(response))) {
    return finding;
  }
  return { ...finding, ...BREAKDOWNS[breakdownOf(broken.response)] };
}

const BREAKDOWNS = {
  failed: {
    explanation:
      "The receiver neither accepted nor rejected the delivery: it failed. Anyone who knows its URL can cause this at will.",
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

/** A check that could not run. */
export function skipped(sent: string, why: string): Finding {
  return { status: "skipped", sent, seen: why };
}
