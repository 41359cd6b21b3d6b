import { useState } from "preact/hooks";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS } from "../../../contract/event-types.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { call } from "../../api/call.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";

const SUBSCRIPTIONS = [...SUBSCRIPTION_WILDCARDS, ...EVENT_TYPES];

/** Creates an endpoint, or changes one. */
export function EndpointForm(props: {
  endpoint?: WebhookEndpoint;
  onClose: () => void;
  onSaved: (endpoint: WebhookEndpoint) => void;
}) {
  const { endpoint } = props;
  const [url, setUrl] = useState(endpoint?.url ?? "");
  const [description, setDescription] = useState(endpoint?.description ?? "");
  const [events, setEvents] = useState<readonly string[]>(endpoint?.events ?? ["*"]);
  const toggle = (name: string) =>
    setEvents(events.includes(name) ? events.filter((other) => other !== name) : [...events, name]);
  return (
    <Dialog title={endpoint === undefined ? "Create an endpoint" : "Edit the endpoint"} onClose={props.onClose} wide>
      <Form
        submit={endpoint === undefined ? "Create endpoint" : "Save"}
        fields={["url", "events", "description"]}
        onCancel={props.onClose}
        run={async () => {
          const body = { url, events, description: description || null };
          const path = "/v1/webhook_endpoints";
          props.onSaved(
            endpoint === undefined
              ? await call<WebhookEndpoint>("POST", path, body)
              : await call<WebhookEndpoint>("PATCH", `${path}/${endpoint.id}`, body),
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
                <p class="field-error">Choose at least one.</p>
              )}
            </fieldset>
          </>
        )}
      </Form>
    </Dialog>
  );
}
