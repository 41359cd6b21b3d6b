import { LIMITS } from "../../contract/limits.ts";
import { type Answer, durationInWords, inWords, isAccepted } from "../answer.ts";
import type { Check, Finding } from "../check.ts";
import { skipped } from "../findings.ts";

type FirstCheck = Omit<Check, "run">;

const SENT = "A valid delivery";

/** The two checks that the first delivery decides. */
export const VALID_DELIVERY: FirstCheck = {
  id: "valid-delivery",
  title: "Accepts a valid delivery",
  group: "Accepting",
  rule: "Platform specification 6, delivery rule 1",
  level: "required",
  explanation: "A delivery that is not answered with 2xx is sent again for three days, then given up.",
  fix: "Is the secret the receiver's, whole and with its whsec_? Is the URL its webhook route?",
};

export const WITHIN_TEN_SECONDS: FirstCheck = {
  id: "within-ten-seconds",
  title: "Answers within 10 s",
  group: "Accepting",
  rule: "Platform specification 6, delivery rules 1 and 8; 8, webhook response deadline",
  level: "required",
  explanation:
    "After 10 s the delivery counts as failed and is sent again, although the receiver may have acted on it.",
  fix: "Verify, store the event, answer 2xx, and do the work after it: from a queue or a table, not in the request.",
};

export const FIRST_LIMIT_MILLISECONDS = LIMITS.deliverySeconds * 1000;

/** Returns both results from the response to the first delivery. */
export function judgeFirst(answer: Answer): [valid: Finding, inTime: Finding] {
  const seen = inWords(answer);
  if (answer.failure?.kind === "timeout") {
    return [skipped(SENT, "No answer came in time"), { status: "failed", sent: SENT, seen }];
  }
  const inTime: Finding =
    answer.status === undefined
      ? skipped(SENT, "No answer came at all")
      : { status: "passed", sent: SENT, seen: `answered in ${durationInWords(answer.milliseconds)}` };
  if (isAccepted(answer)) return [{ status: "passed", sent: SENT, seen }, inTime];
  return [{ status: "failed", sent: SENT, seen, ...adviceFor(answer) }, inTime];
}

function adviceFor({ status, failure }: Answer): Pick<Finding, "fix"> {
  if (failure?.kind === "refused") return { fix: "Start the receiver, and check the port." };
  if (status === undefined)
    return { fix: "Look at the receiver's log: did it crash, and does it serve that protocol?" };
  if (status >= 500) return { fix: "Look at the receiver's log: it broke down over a valid delivery." };
  if (status === 404 || status === 405) return { fix: "Is the path right? Nothing there takes a POST." };
  if (status >= 300 && status < 400) return { fix: "Give the final address: redirects are not followed." };
  if (status === 403) {
    return { fix: "Is the secret the receiver's? Frameworks also answer 403 where CSRF protection covers the route." };
  }
  return {};
}
