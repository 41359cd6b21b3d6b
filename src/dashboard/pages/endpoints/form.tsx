import { useState } from "preact/hooks";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS } from "../../../contract/event-types.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { useCall } from "../../api/call.ts";
import { Dialog, ShownOnce } from "../../components/dialog.tsx";
import { Field, Form, useChanges } from "../../components/form.tsx";

const SUBSCRIPTIONS = [...SUBSCRIPTION_WILDCARDS, ...EVENT_TYPES];

/** Creates an endpoint, or changes one. */
export function EndpointForm(props: {
  endpoint?: WebhookEndpoint;
  onClose: () => void;
  onSaved: (endpoint: WebhookEndpoint) => void;
}) {
  const call = useCall();
  const { endpoint } = props;
  const [url, setUrl] = useState(endpoint?.url ?? "");
  const [description, setDescription] = useState(endpoint?.description ?? "");
  const [events, setEvents] = useState<readonly string[]>(endpoint?.events ?? ["*"]);
  const body = { url, events, description: description || null };
  const changes = useChanges(body);
  const toggle = (name: string) =>
    setEvents(events.includes(name) ? events.filter((other) => other !== name) : [...events, name]);
  return (
    <Dialog
      title={endpoint === undefined ? "Create an endpoint" : "Edit endpoint"}
      onClose={props.onClose}
      class="wide"
    >
      <Form
        submit={endpoint === undefined ? "Create endpoint" : "Save"}
        fields={["url", "events", "description"]}
        onCancel={props.onClose}
        run={async () => {
          const path = "/v1/webhook_endpoints";
          props.onSaved(
            endpoint === undefined
              ? await call<WebhookEndpoint>("POST", path, body)
              : await call<WebhookEndpoint>("PATCH", `${path}/${endpoint.id}`, changes),
          );
        }}
      >
        {(error) => (
          <>
            <Field
              label="URL"
              name="url"
              value={url}
              onInput={setUrl}
              error={error}
              required
              placeholder="https://example.com/webhooks"
            />
            <Field label="Description" name="description" value={description} onInput={setDescription} error={error} />
            <fieldset>
              <legend>Events</legend>
              <div class="checks">
                {SUBSCRIPTIONS.map((name) => (
                  <label key={name}>
                    <input type="checkbox" checked={events.includes(name)} onChange={() => toggle(name)} />{" "}
                    {name === "*" ? "* (all)" : name}
                  </label>
                ))}
              </div>
              {error?.fields.some(({ pointer }) => pointer.startsWith("/events")) === true && (
                <p class="field-error">Choose at least one event.</p>
              )}
            </fieldset>
          </>
        )}
      </Form>
    </Dialog>
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
