import { type Answer, durationInWords, inWords, isAccepted, isDisconnection, isRefused } from "./answer.ts";
import type { Finding, Variant } from "./check.ts";

/** Passes if every delivery got 2xx. */
export function acceptedAll(sent: string, variants: readonly Variant[]): Finding {
  return judge(sent, variants, isAccepted);
}

/** Passes if every delivery got 4xx. */
export function refusedAll(sent: string, variants: readonly Variant[]): Finding {
  const finding = judge(sent, variants, isRefused);
  const broken = variants.find(({ answer }) => !isRefused(answer) && !isAccepted(answer));
  if (finding.status === "passed" || broken === undefined || variants.some(({ answer }) => isAccepted(answer))) {
    return finding;
  }
  return { ...finding, ...BREAKDOWNS[breakdownOf(broken.answer)] };
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

function breakdownOf({ status, failure }: Answer): keyof typeof BREAKDOWNS {
  if (status !== undefined && status < 400) return "elsewhere";
  return failure?.kind === "timeout" ? "silent" : "failed";
}

function judge(sent: string, variants: readonly Variant[], isRight: (answer: Answer) => boolean): Finding {
  const wrong = variants.filter(({ answer }) => !isRight(answer));
  if (wrong.length === 0) return { status: "passed", sent, seen: statusesOf(variants) };
  const seen = wrong
    .map(({ name, answer }) => (variants.length === 1 ? inWords(answer) : `${name}: ${inWords(answer)}`))
    .join("; ");
  return { status: "failed", sent, seen, disconnected: wrong.some(({ answer }) => isDisconnection(answer)) };
}

function statusesOf(variants: readonly Variant[]): string {
  const statuses = [...new Set(variants.map(({ answer }) => answer.status))].join(" and ");
  return `${statuses} in ${durationInWords(Math.max(...variants.map(({ answer }) => answer.milliseconds)))}`;
}

/** A check that could not run. */
export function skipped(sent: string, why: string): Finding {
  return { status: "skipped", sent, seen: why };
}
