import type { Statistics } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { nameOfEndpoint } from "../../api/endpoints.ts";
import { useQuery } from "../../api/store.ts";
import { Confirmation } from "../../components/action.tsx";
import { count, counted } from "../../format.ts";

/** Asks before an endpoint is deleted. */
export function DeleteEndpoint(props: { endpoint: WebhookEndpoint; onDeleted: () => void; onClose: () => void }) {
  const call = useCall();
  const { endpoint, onDeleted, onClose } = props;
  const { id } = endpoint;
  const { data } = useQuery<Statistics>(withQuery("/v1/statistics", { endpoint: id }));
  const { pending = 0, failed_deliveries: failed = 0 } = data?.endpoints.find((one) => one.endpoint === id) ?? {};
  return (
    <Confirmation
      title={`Delete ${nameOfEndpoint(endpoint)}?`}
      explanation={
        <p>
          {pending === 0 ? "Pending" : `Its ${count(pending)} pending`} deliveries are canceled
          {failed > 0 && `, and ${counted(failed, "failed one", "failed ones")} can no longer be retried`}. This cannot
          be undone.
        </p>
      }
      verb="Delete endpoint"
      run={async () => {
        await call("DELETE", `/v1/webhook_endpoints/${id}`);
        onDeleted();
        return `Deleted ${id}`;
      }}
      onClose={onClose}
    />
  );
}
