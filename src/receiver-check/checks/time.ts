import { LIMITS } from "../../contract/limits.ts";
import { type Response, formatResponse, isAccepted } from "../exchange.ts";
import { acceptedAll, type Check, type Finding, rejectedAll, skipped } from "../check.ts";
import type { Subject } from "../subject.ts";

const TOLERANCE = LIMITS.signatureToleranceSeconds;
const TRIES = 5;
/** A larger difference between clocks is reported. */
const NOTABLE_SKEW_SECONDS = 2;

const COMMON = {
  group: "Time",
  level: "required",
  together: true,
} as const;

export const TIME: readonly Check[] = [
  {
    ...COMMON,
    id: "t-301-s-old",
    title: "Rejects a t that is 301 s old",
    explanation: "Without an age limit, a captured delivery can be replayed at any later time.",
    fix: "Reject the delivery if the clock's seconds minus t exceed 300, after verifying the signature.",
    forgery: true,
    run: (subject) => judgeAtEdge(subject, -(TOLERANCE + 1)),
  },
  {
    ...COMMON,
    id: "t-301-s-ahead",
    title: "Rejects a t that is 301 s ahead",
    explanation: "The limit applies in both directions: a signature from the future would stay valid for too long.",
    fix: "Compare the absolute difference between the clock and t with 300 seconds. Verifiers for other platforms often check the past only.",
    run: (subject) => judgeAtEdge(subject, TOLERANCE + 1),
  },
  {
    ...COMMON,
    id: "t-299-s-old",
    title: "Accepts a t that is 299 s old",
    explanation: "A tolerance below 300 s rejects deliveries that a slow network or a skewed clock delayed.",
    fix: "Allow 300 seconds, and synchronize the receiver's clock (NTP).",
    run: (subject) => judgeAtEdge(subject, -(TOLERANCE - 1)),
  },
];

/**
 * Delivers at the beginning of a second, when clocks with and without fractions agree. A response counts only if t was
 * on the intended side of the limit until the end.
 */
async function judgeAtEdge(subject: Subject, offset: number): Promise<Finding> {
  const { clock } = subject;
  const sent = `A valid delivery whose t is ${inSeconds(offset)}`;
  const isWithin = (seconds: number): boolean => Math.abs(seconds) <= TOLERANCE;
  const judge = isWithin(offset) ? acceptedAll : rejectedAll;
  for (let tries = 0; tries < TRIES; tries++) {
    await clock.sleep(1000 - (clock.unixMilliseconds() % 1000));
    const timestamp = subject.now() + offset;
    const response = await subject.deliver(subject.event(), { timestamp });
    const offsetAtEnd = clock.unixMilliseconds() / 1000 - timestamp;
    if (isAccepted(response) === isWithin(offset) || isWithin(offsetAtEnd) === isWithin(offset)) {
      return withSkew(judge(sent, [{ name: "", response }]), response, subject);
    }
  }
  return skipped(sent, "The receiver responded too slowly to check a limit of one second");
}

/** A wrong clock is the most likely cause, and the response's Date header reveals it. */
function withSkew(finding: Finding, response: Response, { clock }: Subject): Finding {
  if (finding.status !== "failed" || response.date === undefined) return finding;
  const skew = Math.round((response.date - clock.unixMilliseconds()) / 1000);
  if (Math.abs(skew) <= NOTABLE_SKEW_SECONDS) return finding;
  return {
    ...finding,
    seen: `${formatResponse(response)}; the receiver's clock is ${inSeconds(skew, "behind", "ahead")}`,
  };
}

function inSeconds(offset: number, before = "old", after = "ahead"): string {
  return `${Math.abs(offset)} s ${offset < 0 ? before : after}`;
}
