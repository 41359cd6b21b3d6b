import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { Status, Time } from "../../components/values.tsx";

/** The status with its reason: why and when it was disabled, or since when it fails. */
export function EndpointStatus({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { status, disabled_reason: reason, disabled_at: at, health } = endpoint;
  if (status === "disabled") {
    return (
      <>
        <Status status="disabled" />
        <br />
        <span class="soft">
          {reason === "gone" ? "410 Gone" : "by a user"}, <Time at={at} />
        </span>
      </>
    );
  }
  if (health.failing_since === null) return <Status status={status} />;
  return (
    <>
      <Status status="failing" />
      <br />
      <span class="soft">
        since <Time at={health.failing_since} />
      </span>
    </>
  );
}
