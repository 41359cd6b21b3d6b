import { useCall } from "../../api/call.ts";
import { Confirmation } from "../../components/action.tsx";

/** Asks before an endpoint is disabled. */
export function DisableEndpoint(props: { id: string; onChange: () => void; onClose: () => void }) {
  const call = useCall();
  const { id, onChange, onClose } = props;
  return (
    <Confirmation
      title="Disable this endpoint?"
      explanation={
        <p>Its deliveries wait, and events that happen meanwhile are not sent until you choose Enable and replay.</p>
      }
      verb="Disable endpoint"
      run={async () => {
        await call("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
        onChange();
        return "Disabled. Deliveries wait.";
      }}
      onClose={onClose}
    />
  );
}
