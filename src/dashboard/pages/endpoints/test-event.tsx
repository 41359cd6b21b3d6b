import { useState } from "preact/hooks";
import { EVENT_TYPES } from "../../../contract/event-types.ts";
import { isSuccess } from "../../../contract/is-success.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { nameOfEndpoint } from "../../api/endpoints.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { showToast } from "../../components/toasts.tsx";
import { outcomeInWords } from "../../responses.ts";

const PING = "webhook_endpoint.ping";

/** An attempt ends within 10 s. */
const ANSWER_MILLISECONDS = 15_000;
const POLL_MILLISECONDS = 250;

/** Sends a ping to this endpoint, or in the sandbox an event with a sample object, and reports the response. */
export function TestEvent({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const call = useCall();
  const { id, livemode: isLive } = endpoint;
  const [type, setType] = useState<string>(PING);
  const responseTo = async (event: string) => {
    const list = withQuery("/v1/deliveries", { event, endpoint: id });
    for (let waited = 0; waited < ANSWER_MILLISECONDS; waited += POLL_MILLISECONDS) {
      const [delivery] = (await call<{ data: Delivery[] }>("GET", list)).data;
      if (delivery !== undefined && delivery.attempt_count > 0) {
        return [delivery.last_status_code, delivery.last_error] as const;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    }
    return undefined;
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
          const response = await responseTo(event.id);
          const text = response === undefined ? "no response yet" : outcomeInWords(...response);
          showToast(`${nameOfEndpoint(endpoint)}: ${text}`, response !== undefined && isSuccess(response[0]));
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
