import { useState } from "preact/hooks";
import { EVENT_TYPES } from "../../../contract/event-types.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { useCall } from "../../api/call.ts";
import { nameOfEndpoint } from "../../api/endpoints.ts";
import { Confirmation } from "../../components/action.tsx";
import { Dialog, ShownOnce } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { showToast } from "../../components/toasts.tsx";
import { RetryDialog } from "../bulk.tsx";
import { EnableDialog } from "../enable.tsx";
import { PING, testEndpoint } from "../retry-now.tsx";

/** A dialog about an endpoint, of those that its page and the overview open. */
export function EndpointDialog(props: {
  open: "retry" | "enable" | "test" | "disable";
  endpoint: WebhookEndpoint;
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
      return <EnableDialog endpoint={endpoint} onChange={onChange} onClose={onClose} />;
    case "test":
      return <TestEvent endpoint={endpoint} onClose={onClose} />;
    case "disable":
      return <DisableEndpoint id={id} onChange={onChange} onClose={onClose} />;
  }
}

/** Sends a ping to this endpoint, or in the sandbox an event with a sample object, and reports the response. */
function TestEvent({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const call = useCall();
  const { id, livemode: isLive } = endpoint;
  const [type, setType] = useState<string>(PING);
  const types = isLive ? [PING] : [PING, ...EVENT_TYPES.filter((name) => name !== PING)];
  return (
    <Dialog title="Send a test event" onClose={onClose} isForm={false}>
      <p>The endpoint receives it whatever it subscribes to.{!isLive && " Connected listeners receive it too."}</p>
      <Form
        submit="Send"
        fields={["type"]}
        onCancel={onClose}
        run={async () => {
          const { text, isGood } = await testEndpoint(call, id, type);
          showToast(`${nameOfEndpoint(endpoint)}: ${text}`, isGood);
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
        <p>
          Its deliveries are held, and events that happen meanwhile are not sent until you choose Enable and replay.
        </p>
      }
      verb="Disable endpoint"
      run={async () => {
        await call("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
        onChange();
        return "Disabled. Deliveries are held.";
      }}
      onClose={onClose}
    />
  );
}

const OVERLAPS = [
  ["0", "None: the old secret stops signing at once"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["259200", "3 days"],
  ["604800", "7 days"],
] as const;

/** Replaces the secret; during the overlap the old one signs too. */
export function RotateSecret({ path, onClose }: { path: string; onClose: () => void }) {
  const call = useCall();
  const [overlap, setOverlap] = useState("86400");
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) {
    return <ShownOnce title="The new signing secret" secret={secret} what="the new signing secret" onClose={onClose} />;
  }
  return (
    <Dialog title="Rotate the signing secret" onClose={onClose}>
      <p>
        During the overlap every delivery is signed with both secrets, so that you can deploy the new one without a gap.
      </p>
      <Form
        submit="Rotate secret"
        fields={["overlap_seconds"]}
        onCancel={onClose}
        run={async () => {
          const body = { overlap_seconds: Number(overlap) };
          setSecret((await call<WebhookEndpoint>("POST", `${path}/rotate_secret`, body)).secret ?? "");
        }}
      >
        {(error) => (
          <Field
            label="Overlap"
            name="overlap_seconds"
            value={overlap}
            onInput={setOverlap}
            error={error}
            options={OVERLAPS}
          />
        )}
      </Form>
    </Dialog>
  );
}
