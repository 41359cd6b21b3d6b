import { useMemo, useState } from "preact/hooks";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event, Replay } from "../../../contract/schemas/event.ts";
import { useCall } from "../../api/call.ts";
import { nameOfEndpoint, useEndpoints } from "../../api/endpoints.ts";
import { useExplanation } from "../../api/explanation.ts";
import { usePages } from "../../api/pages.ts";
import { useText } from "../../api/store.ts";
import { Answer } from "../../components/answer.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { LoadedObject } from "../../components/loaded-object.tsx";
import { Card, Empty, Facts, Page } from "../../components/page.tsx";
import { showToast } from "../../components/toasts.tsx";
import { Trail } from "../../components/trail.tsx";
import { ClockTime, Copy, hrefOfId, JsonTree, Raw, WhyLink } from "../../components/values.tsx";
import { count, counted, money } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { DeliveryTable } from "../deliveries.tsx";
import { changesOf } from "./changes.ts";

/** Returns the name of the event's object for a line. */
export function nameOf(object: Record<string, unknown>): string {
  const { email, amount, currency, url, description, id } = object;
  if (typeof email === "string") return email;
  if (typeof amount === "number" && typeof currency === "string") return money(amount, currency);
  if (typeof description === "string" && description.trim() !== "") return description;
  if (typeof url === "string") return url;
  return typeof id === "string" ? id : "";
}

type View = "tree" | "raw" | "changed";

export function EventDetail({ id }: { id: string }) {
  const bytes = useText(`/v1/events/${encodeURIComponent(id)}`);
  const [isReplaying, setReplaying] = useState(false);
  const deliveries = usePages<Delivery>("/v1/deliveries", { event: id });
  const event = useMemo(() => (bytes.data === undefined ? undefined : (JSON.parse(bytes.data) as Event)), [bytes.data]);
  const { explanation } = useExplanation(event?.id);
  const request = explanation?.chain.request;
  return (
    <Page
      title={event?.type ?? "Event"}
      back={{ href: hrefOf("events"), label: "Events" }}
      id={id}
      isLoaded={event !== undefined}
      actions={
        event !== undefined && (
          <>
            <WhyLink id={event.id} />
            <button type="button" class="primary" data-shortcut="r" onClick={() => setReplaying(true)}>
              Replay
            </button>
          </>
        )
      }
    >
      <LoadedObject of={bytes} id={id}>
        {(raw) =>
          event !== undefined && (
            <>
              <Answer explanation={explanation} />
              <div class="dotted">
                <span>
                  <Link href={hrefOfId(idOf(event.data.object) ?? "") ?? hrefOf("events", id)}>
                    {nameOf(event.data.object)}
                  </Link>
                </span>
                <span>
                  <ClockTime at={event.created} />
                </span>
                {event.request.id !== null && (
                  <span>
                    caused by{" "}
                    <Link href={hrefOf("logs", event.request.id)}>
                      <code>{request === undefined ? event.request.id : `${request.method} ${request.path}`}</code>
                    </Link>
                  </span>
                )}
              </div>
              {explanation !== undefined && <Trail chain={explanation.chain} />}
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
              <Payload event={event} raw={raw} />
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
      </LoadedObject>
    </Page>
  );
}

/** What was sent, as a tree or as its bytes, and the fields that the event changed. */
function Payload({ event, raw }: { event: Event; raw: string }) {
  const [view, setView] = useState<View>("tree");
  const changes = changesOf(event);
  const views: readonly (readonly [View, string])[] = [
    ["tree", "Tree"],
    ["raw", "Raw"],
    ...(changes.length > 0 ? [["changed", "Changed"] as const] : []),
  ];
  return (
    <Card
      title="Payload"
      note={`${count(new TextEncoder().encode(raw).length)} bytes, which every attempt signs and sends`}
      actions={
        <>
          <span class="tabs" role="group" aria-label="View of the payload">
            {views.map(([name, label]) => (
              <button key={name} type="button" class="small" aria-pressed={view === name} onClick={() => setView(name)}>
                {label}
              </button>
            ))}
          </span>
          <Copy text={raw} what="the payload" label="Copy" />
        </>
      }
    >
      {view === "tree" ? (
        <div class="json-box" role="region" tabIndex={0} aria-label="Payload">
          <JsonTree value={event} />
        </div>
      ) : view === "raw" ? (
        <Raw text={raw} label="Raw bytes" />
      ) : (
        <Facts
          rows={changes.map(([name, before, after]) => [
            name,
            <code>{`${JSON.stringify(before)} → ${JSON.stringify(after)}`}</code>,
          ])}
        />
      )}
    </Card>
  );
}

const NOBODY = "Not replayed: no enabled endpoint subscribes to this type, and no listener is running.";

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
          const isSent = deliveries.length > 0;
          const words = isSent ? `Replayed: ${counted(deliveries.length, "delivery", "deliveries")}` : NOBODY;
          showToast(words, isSent);
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
              ...(endpoints.items ?? []).map((one) => [one.id, nameOfEndpoint(one)] as const),
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
