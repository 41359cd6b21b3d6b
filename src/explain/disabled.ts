import { capitalized } from "../contract/words.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import type { Chain } from "./chain.ts";
import { type Finding, type TimeFormat, waits } from "./finding.ts";
import { receiverOfEndpoint } from "./receivers.ts";

/** Returns that an endpoint is disabled, by whom, and how many deliveries wait. */
export function disabled(endpoint: WebhookEndpoint, { changes }: Chain, time: TimeFormat, waiting: number): Finding {
  const { id, disabled_reason: reason, disabled_at: at, events } = endpoint;
  const change = changes.get(id)?.find(({ status }) => status === "disabled");
  const { name } = receiverOfEndpoint(endpoint);
  const when = at === null ? "" : ` at ${time(at)}`;
  const how =
    reason === "gone"
      ? `${when}, because it responded with 410 Gone`
      : change === undefined
        ? when
        : ` ${change.by}${when}`;
  const wait = waiting === 0 ? "" : `; ${waits(waiting, "held")} until it is enabled`;
  return {
    code: "endpoint_disabled",
    subject: id,
    summary: `${name} was disabled${how}${wait}`,
    evidence: change === undefined ? `It subscribes to ${events.join(", ")}` : `Disabled by request ${change.request}`,
    action:
      reason === "gone"
        ? "If the receiver is gone for good, delete the endpoint. Otherwise enable the endpoint once its receiver is back"
        : "Enable the endpoint",
    fix: shellCommand`service endpoints enable ${id}`,
  };
}

/** Returns the advice to do something once the cause of a failure is repaired. */
export function afterRepair({ action }: Pick<Finding, "action">, then: string): string {
  if (action === null || action === "Retry now") return capitalized(then);
  return /\bthen retry$/i.test(action) ? action.replace(/retry$/, then) : `${action}. Then ${then}`;
}
