import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { environmentNow } from "../../clock.ts";
import { duration } from "../../format.ts";
import { isOldSecret } from "./secret-age.ts";

/** Whether two secrets sign now and for how long, or whether the one that does is too old. */
export function SecretNotice({ endpoint }: { endpoint: WebhookEndpoint }) {
  const until = endpoint.previous_secret_until;
  const left = until === null ? 0 : (Date.parse(until) - environmentNow()) / 1000;
  if (left > 0) {
    return (
      <p class="notice wait" role="status">
        <strong>Two secrets sign.</strong> The old one ends in <span class="countdown">{duration(left)}</span>: set the
        new one in your receiver before.
      </p>
    );
  }
  if (!isOldSecret(endpoint)) return null;
  return (
    <p class="notice wait">
      <strong>The signing secret is older than 90 days.</strong> Rotate it; both secrets sign until the overlap ends.
    </p>
  );
}
