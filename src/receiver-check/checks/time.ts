import { type Response, formatResponse, isAccepted } from "../exchange.ts";
import { acceptedAll, type Check, type Finding, rejectedAll, skipped } from "../check.ts";
import type { Provider } from "../samples.ts";
import type { Subject } from "../subject.ts";
import { termsOf } from "../signing-mistake.ts";
import { SCHEMES } from "../../webhooks/schemes.ts";

const TRIES = 5;
/** A larger difference between clocks is reported. */
const NOTABLE_SKEW_SECONDS = 2;

const COMMON = {
  group: "Time",
  level: "required",
  together: true,
} as const;

export function time({ scheme }: Provider): readonly Check[] {
  const { tolerance } = scheme.timestamp ?? {};
  const seconds = tolerance ?? SCHEMES.service.timestamp.tolerance;
  const { t, timestamp } = termsOf(scheme);
  const reason = scheme.timestamp === undefined ? "has no timestamp" : "has no limit of age";
  const notApplicable = tolerance === undefined && `${scheme.name} ${reason}`;
  return [
    {
      ...COMMON,
      id: `t-${seconds + 1}-s-old`,
      notApplicable,
      title: `Rejects a ${timestamp} that is ${seconds + 1} s old`,
      explanation: `The receiver accepts a signature that is older than ${seconds} s, so a captured delivery can be replayed for longer than the provider allows.`,
      fix: `After verifying the signature, reject the delivery if the ${timestamp} is more than ${seconds} seconds old.`,
      forgery: true,
      run: (subject) => judgeAtEdge(subject, -(seconds + 1), seconds),
    },
    {
      ...COMMON,
      id: `t-${seconds + 1}-s-ahead`,
      notApplicable: scheme.timestamp?.future
        ? `${scheme.name}'s own libraries accept timestamps in the future`
        : notApplicable,
      title: `Rejects a ${timestamp} that is ${seconds + 1} s ahead`,
      explanation: "The limit applies in both directions: a signature from the future would stay valid for too long.",
      fix: `Compare the absolute difference between the clock and ${t} with ${seconds} seconds. Verifiers for other platforms often check the past only.`,
      run: (subject) => judgeAtEdge(subject, seconds + 1, seconds),
    },
    {
      ...COMMON,
      id: `t-${seconds - 1}-s-old`,
      notApplicable,
      title: `Accepts a ${timestamp} that is ${seconds - 1} s old`,
      explanation: `A tolerance below ${seconds} s rejects deliveries that a slow network or a skewed clock delayed.`,
      fix: `Allow ${seconds} seconds, and synchronize the receiver's clock (NTP).`,
      run: (subject) => judgeAtEdge(subject, -(seconds - 1), seconds),
    },
  ];
}

/**
 * Delivers at the beginning of a second, when clocks with and without fractions agree. A response counts only if t was
 * on the intended side of the limit until the end.
 */
async function judgeAtEdge(subject: Subject, offset: number, tolerance: number): Promise<Finding> {
  const { clock } = subject;
  const sent = `A valid delivery whose ${termsOf(subject.provider.scheme).t} is ${inSeconds(offset)}`;
  const isWithin = (seconds: number): boolean => Math.abs(seconds) <= tolerance;
  const judge = isWithin(offset) ? acceptedAll : rejectedAll;
  for (let tries = 0; tries < TRIES; tries++) {
    await clock.sleep(1000 - (clock.now() % 1000));
    const timestamp = subject.now() + offset;
    const response = await subject.deliver(subject.sample(), { timestamp });
    const offsetAtEnd = clock.now() / 1000 - timestamp;
    if (isAccepted(response) === isWithin(offset) || isWithin(offsetAtEnd) === isWithin(offset)) {
      return withSkew(judge(sent, [{ name: "", response }]), response, subject);
    }
  }
  return skipped(sent, "The receiver responded too slowly to check a limit of one second");
}

/** A wrong clock is the most likely cause, and the response's Date header reveals it. */
function withSkew(finding: Finding, response: Response, { clock }: Subject): Finding {
  if (finding.status !== "failed" || response.date === undefined) return finding;
  const skew = Math.round((response.date - clock.now()) / 1000);
  if (Math.abs(skew) <= NOTABLE_SKEW_SECONDS) return finding;
  return {
    ...finding,
    seen: `${formatResponse(response)}; the receiver's clock is ${inSeconds(skew, "behind", "ahead")}`,
  };
}

function inSeconds(offset: number, before = "old", after = "ahead"): string {
  return `${Math.abs(offset)} s ${offset < 0 ? before : after}`;
}
