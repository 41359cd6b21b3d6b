import { useMemo, useState } from "preact/hooks";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event, Replay } from "../../../contract/schemas/event.ts";
import { useCall } from "../../api/call.ts";
import { usePages } from "../../api/pages.ts";
import { useText } from "../../api/store.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { Card, Empty, Facts, Loaded, Page } from "../../components/page.tsx";
import { showToast } from "../../components/toasts.tsx";
import { Copy, Id, JsonTree, ObjectLink, pretty, Raw, Time, WhyLink } from "../../components/values.tsx";
import { count, counted } from "../../format.ts";
import { hrefOf } from "../../router.tsx";
import { DeliveryTable, useEndpoints } from "../deliveries.tsx";

export function EventDetail({ id }: { id: string }) {
  const bytes = useText(`/v1/events/${encodeURIComponent(id)}`);
  const [isReplaying, setReplaying] = useState(false);
  const deliveries = usePages<Delivery>("/v1/deliveries", { event: id });
  const event = useMemo(() => (bytes.data === undefined ? undefined : (JSON.parse(bytes.data) as Event)), [bytes.data]);
  return (
    <Page
      title={event?.type ?? "Event"}
      back={{ href: hrefOf("events"), label: "Events" }}
      actions={
        event !== undefined && (
          <>
            <WhyLink id={event.id} />
            <button type="button" class="primary" onClick={() => setReplaying(true)}>
              Replay
            </button>
          </>
        )
      }
    >
      <Loaded of={bytes}>
        {(raw) =>
          event !== undefined && (
            <>
              <Facts
                rows={[
                  ["ID", <Id id={event.id} />],
                  ["Created", <Time at={event.created} />],
                  ["Object", <ObjectLink id={idOf(event.data.object)} />],
                  ["API request", event.request.id === null ? undefined : <ObjectLink id={event.request.id} />],
                ]}
              />
              <Card title="Deliveries">
                <DeliveryTable
                  label="Deliveries of this event"
                  pages={deliveries}
                  of="event"
                  empty={
                    <Empty icon="deliveries" title="Not sent to any endpoint">
                      <p>No enabled endpoint subscribed to its type, and there was no listener.</p>
                    </Empty>
                  }
                />
              </Card>
              <div class="columns">
                <Card title="Payload" actions={<Copy text={pretty(raw)} what="the payload as JSON" label="Copy" />}>
                  <JsonTree value={event} />
                </Card>
                <Card
                  title={`Raw bytes (${count(new TextEncoder().encode(raw).length)})`}
                  actions={<Copy text={raw} what="the raw bytes" label="Copy" />}
                >
                  <p class="soft">The exact bytes that every attempt signs and sends.</p>
                  <Raw text={raw} label="Raw bytes" />
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
  const call = useCall();
  const endpoints = useEndpoints();
  const [endpoint, setEndpoint] = useState("");
  return (
    <Dialog title="Replay this event" onClose={onClose}>
      <p>The event is sent again with the same bytes and a new signature, also to listeners.</p>
      <Form
        submit="Replay now"
        fields={["endpoint"]}
        onCancel={onClose}
        run={async () => {
          const body = endpoint === "" ? {} : { endpoint };
          const { deliveries } = await call<Replay>("POST", `/v1/events/${id}/replay`, body);
          showToast(`Replayed: ${counted(deliveries.length, "delivery", "deliveries")}`);
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
              ["", "All subscribed endpoints"],
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
