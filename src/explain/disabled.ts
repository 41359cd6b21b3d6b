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
  const wait = waiting === 0 ? "" : `; ${waits(waiting)} until it is enabled`;
  return {
    code: "endpoint_disabled",
    subject: id,
    summary: `${name} was disabled${how}${wait}`,
    evidence: change === undefined ? `It subscribes to ${events.join(", ")}` : `Disabled by request ${change.request}`,
    ...enabling(endpoint),
  };
}

function enabling({ id, disabled_reason: reason, livemode }: WebhookEndpoint): Pick<Finding, "action" | "fix"> {
  const deletion = shellCommand`service endpoints delete ${id}` + (livemode ? " --live" : "");
  const action =
    reason === "gone"
      ? `If the receiver is gone for good, run \`${deletion}\`. Otherwise enable the endpoint once its receiver is back`
      : "Enable the endpoint";
  return { action, fix: shellCommand`service endpoints enable ${id}` };
}
