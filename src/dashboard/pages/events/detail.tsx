import { useMemo, useState } from "preact/hooks";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event, Replay } from "../../../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { call } from "../../api/call.ts";
import { usePages, useText } from "../../api/use-query.ts";
import { Copy, Id } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { say } from "../../components/toasts.tsx";
import { count } from "../../format.ts";
import { hrefOf } from "../../router.tsx";
import { DeliveryTable } from "../deliveries/delivery-table.tsx";
import { ObjectLink } from "../object-link.tsx";

export function EventDetail({ id }: { id: string }) {
  const bytes = useText(`/v1/events/${encodeURIComponent(id)}`);
  const [isReplaying, setReplaying] = useState(false);
  const deliveries = usePages<Delivery>("/v1/deliveries", { event: id }, { every: 2000 });
  const event = useMemo(() => (bytes.data === undefined ? undefined : (JSON.parse(bytes.data) as Event)), [bytes.data]);
  return (
    <Page
      title={event?.type ?? "Event"}
      back={{ href: hrefOf("events"), label: "Events" }}
      actions={
        event !== undefined && (
          <button type="button" class="primary" onClick={() => setReplaying(true)}>
            Replay
          </button>
        )
      }
    >
      <Loaded of={bytes}>
        {(raw) =>
          event !== undefined && (
            <>
              <Facts
                rows={[
                  ["Id", <Id id={event.id} />],
                  ["Created", <Time at={event.created} />],
                  ["About", <ObjectLink id={idOf(event.data.object)} />],
                  ["Caused by request", event.request.id === null ? undefined : <code>{event.request.id}</code>],
                ]}
              />
              <Card title="Deliveries">
                <DeliveryTable
                  label="Deliveries of this event"
                  pages={deliveries}
                  of="event"
                  empty={
                    <Empty title="It went nowhere.">
                      <p>No enabled endpoint subscribed to it, and nobody was listening.</p>
                    </Empty>
                  }
                />
              </Card>
              <div class="columns">
                <Card title="Payload">
                  <JsonTree value={event} />
                </Card>
                <Card
                  title={`Raw bytes (${count(new TextEncoder().encode(raw).length)})`}
                  actions={<Copy text={raw} what="the raw bytes" />}
                >
                  <p class="soft">Exactly what is signed and sent, at every attempt.</p>
                  <pre class="raw" role="region" tabIndex={0} aria-label="Raw bytes">
                    {raw}
                  </pre>
                </Card>
              </div>
              {isReplaying && (
                <ReplayDialog
                  id={id}
                  onClose={() => {
                    setReplaying(false);
                    deliveries.reload();
                  }}
                />
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function ReplayDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const endpoints = usePages<WebhookEndpoint>("/v1/webhook_endpoints", {}, { limit: 100 });
  const [endpoint, setEndpoint] = useState("");
  return (
    <Dialog title="Replay this event" onClose={onClose}>
      <p>It is sent again with the same bytes and a fresh signature. Listeners get it too.</p>
      <Form
        submit="Replay now"
        fields={["endpoint"]}
        onCancel={onClose}
        run={async () => {
          const body = endpoint === "" ? {} : { endpoint };
          const { deliveries } = await call<Replay>("POST", `/v1/events/${id}/replay`, body);
          say(deliveries.length === 1 ? "Replayed: 1 delivery" : `Replayed: ${deliveries.length} deliveries`);
          onClose();
        }}
      >
        {(error) => (
          <Field
            label="To"
            name="endpoint"
            value={endpoint}
            onInput={setEndpoint}
            error={error}
            options={[
              ["", "Every endpoint that subscribes to it"],
              ...(endpoints.items ?? []).map(({ id: of, url }) => [of, url] as const),
            ]}
          />
        )}
      </Form>
    </Dialog>
  );
}

function idOf({ id }: Record<string, unknown>): string | null {
  return typeof id === "string" ? id : null;
}
