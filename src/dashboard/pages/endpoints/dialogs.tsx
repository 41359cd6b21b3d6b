import { useState } from "preact/hooks";
import { EVENT_TYPES } from "../../../contract/event-types.ts";
import { isSuccess } from "../../../contract/is-success.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { nameOfEndpoint } from "../../api/endpoints.ts";
import { Confirmation } from "../../components/action.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { showToast } from "../../components/toasts.tsx";
import { outcomeInWords } from "../../responses.ts";
import { RetryDialog } from "../bulk.tsx";
import { EnableDialog } from "../enable.tsx";
import { attemptAfter } from "../retry-now.tsx";

/** A dialog about an endpoint, of those that its page and the overview open. */
export function EndpointDialog(props: {
  open: "retry" | "enable" | "test" | "disable";
  endpoint: WebhookEndpoint;
  /** How many deliveries wait. */
  waiting: number;
  onChange: () => void;
  onClose: () => void;
}) {
  const { open, endpoint, onChange, onClose } = props;
  const { id, health } = endpoint;
  switch (open) {
    case "retry": {
      const target = { id, name: nameOfEndpoint(endpoint) };
      return <RetryDialog endpoint={target} failingSince={health.failing_since} onClose={onClose} />;
    }
    case "enable":
      return <EnableDialog endpoint={endpoint} waiting={props.waiting} onChange={onChange} onClose={onClose} />;
    case "test":
      return <TestEvent endpoint={endpoint} onClose={onClose} />;
    case "disable":
      return <DisableEndpoint id={id} onChange={onChange} onClose={onClose} />;
  }
}

const PING = "webhook_endpoint.ping";

/** An attempt ends within 10 s. */
const ANSWER_MILLISECONDS = 15_000;

/** Sends a ping to this endpoint, or in the sandbox an event with a sample object, and reports the response. */
function TestEvent({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const call = useCall();
  const { id, livemode: isLive } = endpoint;
  const [type, setType] = useState<string>(PING);
  const deliveryOf = async (event: string) => {
    const list = withQuery("/v1/deliveries", { event, endpoint: id });
    return await attemptAfter(
      0,
      async () => (await call<{ data: Delivery[] }>("GET", list)).data[0],
      ANSWER_MILLISECONDS,
    );
  };
  const types = isLive ? [PING] : [PING, ...EVENT_TYPES.filter((name) => name !== PING)];
  return (
    <Dialog title="Send a test event" onClose={onClose} isForm={false}>
      <p>The endpoint receives it whatever it subscribes to.{!isLive && " Connected listeners receive it too."}</p>
      <Form
        submit="Send"
        fields={["type"]}
        onCancel={onClose}
        run={async () => {
          const event = await call<Event>(
            "POST",
            `/v1/webhook_endpoints/${id}/ping`,
            type === PING ? undefined : { type },
          );
          const { last_status_code: code = null, last_error: error = null } = (await deliveryOf(event.id)) ?? {};
          const text = code === null && error === null ? "no response yet" : outcomeInWords(code, error);
          showToast(`${nameOfEndpoint(endpoint)}: ${text}`, isSuccess(code));
          onClose();
        }}
      >
        {(error) => (
          <Field
            label="Type"
            name="type"
            value={type}
            onInput={setType}
            error={error}
            options={types.map((name) => [name, name] as const)}
          />
        )}
      </Form>
    </Dialog>
  );
}

/** Asks before an endpoint is disabled. */
function DisableEndpoint(props: { id: string; onChange: () => void; onClose: () => void }) {
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
