import { LIMITS } from "../../contract/limits.ts";
import { type Response, formatDuration, formatResponse, isAccepted } from "../response.ts";
import type { Check, Finding } from "../check.ts";
import { skipped } from "../findings.ts";

type FirstCheck = Omit<Check, "run">;

const SENT = "A valid delivery";

/** The two checks that the first delivery decides. */
export const VALID_DELIVERY: FirstCheck = {
  id: "valid-delivery",
  title: "Accepts a valid delivery",
  group: "Accepting",
  rule: "docs/receiving-webhooks.md#deliveries",
  level: "required",
  explanation: "A delivery without a 2xx response is retried for three days, then fails.",
  fix: "Check that the secret is the receiver's, complete and with its whsec_ prefix, and that the URL is its webhook route.",
};

export const WITHIN_TEN_SECONDS: FirstCheck = {
  id: "within-ten-seconds",
  title: "Responds within 10 s",
  group: "Accepting",
  rule: "docs/receiving-webhooks.md#deliveries",
  level: "required",
  explanation: "After 10 s the delivery counts as failed and is retried, although the receiver may have processed it.",
  fix: "Verify, store the event and respond with 2xx. Do the work afterwards, from a queue or a table.",
};

export const FIRST_LIMIT_MILLISECONDS = LIMITS.deliverySeconds * 1000;

/** Returns both results from the response to the first delivery. */
export function judgeFirst(response: Response): [valid: Finding, inTime: Finding] {
  const seen = formatResponse(response);
  if (response.failure?.kind === "timeout") {
    return [skipped(SENT, "No response in time"), { status: "failed", sent: SENT, seen }];
  }
  const inTime: Finding =
    response.status === undefined
      ? skipped(SENT, "No response")
      : { status: "passed", sent: SENT, seen: `response in ${formatDuration(response.milliseconds)}` };
  if (isAccepted(response)) return [{ status: "passed", sent: SENT, seen }, inTime];
  return [{ status: "failed", sent: SENT, seen, ...adviceFor(response) }, inTime];
}

function adviceFor({ status, failure }: Response): Pick<Finding, "fix"> {
  if (failure?.kind === "refused") return { fix: "Start the receiver, and check the port." };
  if (status === undefined)
    return { fix: "Check the receiver's log: it may have crashed, or not support this protocol." };
  if (status >= 500) return { fix: "Check the receiver's log: a valid delivery caused an error." };
  if (status === 404 || status === 405) return { fix: "Check the path: nothing there accepts a POST." };
  if (status >= 300 && status < 400) return { fix: "Pass the final URL: redirects are not followed." };
  if (status === 403) {
    return {
      fix: "Check that the secret is the receiver's. Frameworks also respond with 403 if CSRF protection applies to the route.",
    };
  }
  return {};
}
