import { useContext, useMemo, useState } from "preact/hooks";
import { matchesSubscriptions } from "../../../contract/event-types.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event, Replay } from "../../../contract/schemas/event.ts";
import { decisiveDeliveries, stateOf } from "../../../explain/states.ts";
import { useCall } from "../../api/call.ts";
import { nameOfEndpoint, useEndpoints } from "../../api/endpoints.ts";
import { useExplanation } from "../../api/explanation.ts";
import { usePages } from "../../api/pages.ts";
import { useText } from "../../api/store.ts";
import { Also, Answer } from "../../components/answer.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { DetailPage } from "../../components/detail-page.tsx";
import { MoreMenu } from "../../components/menu.tsx";
import { Below, Card, Empty, Facts, Peeked } from "../../components/page.tsx";
import { showToast } from "../../components/toasts.tsx";
import { Trail } from "../../components/trail.tsx";
import { ClockTime, Copy, hrefOfId, JsonTree, Raw } from "../../components/values.tsx";
import { clockTime, count, counted } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { Remedy } from "../remedy.tsx";
import { DeliveryTable } from "../delivery-table.tsx";
import { ListenerResults } from "../listeners.tsx";
import { titleIn } from "../objects/item.tsx";
import { changesOf } from "./changes.ts";

type View = "tree" | "raw" | "changed";

export function EventDetail({ id }: { id: string }) {
  const bytes = useText(`/v1/events/${encodeURIComponent(id)}`);
  // Beside the list, the payload is what a reader looks for; on the page it is what is left to read.
  const isPeeked = useContext(Peeked) !== undefined;
  const [isReplaying, setReplaying] = useState(false);
  const [replayed, setReplayed] = useState<readonly string[]>([]);
  const deliveries = usePages<Delivery>("/v1/deliveries", { event: id });
  const event = useMemo(() => (bytes.data === undefined ? undefined : (JSON.parse(bytes.data) as Event)), [bytes.data]);
  const { explanation, error, again } = useExplanation(event?.id);
  const request = explanation?.chain.request;
  // What the causes show is not repeated below them.
  const isUndelivered = explanation?.findings[0]?.code === "undelivered";
  const causes = isUndelivered ? explanation.findings.filter(({ code }) => code !== "delivered") : [];
  const others = deliveries.items?.filter(({ id: own }) => !causes.some(({ subject }) => subject === own));
  return (
    <DetailPage
      page="events"
      id={id}
      of={bytes}
      title={event?.type ?? "Event"}
      actions={() => (
        <MoreMenu
          items={[
            {
              label: "Replay",
              hint: "Sends the event again, also to receivers that have it",
              onSelect: () => setReplaying(true),
            },
          ]}
        />
      )}
    >
      {(raw) =>
        event !== undefined && (
          <>
            <button type="button" hidden data-shortcut="r" onClick={() => setReplaying(true)} />
            {replayed.length > 0 && <ReplayOutcome ids={replayed} deliveries={deliveries.items ?? []} />}
            <Answer
              explanation={explanation}
              remedy={
                explanation && <Remedy chain={explanation.chain} finding={explanation.findings[0]} onDone={again} />
              }
            />
            <Below isReady={explanation !== undefined || error !== undefined}>
              <div class="dotted">
                <span>
                  <Link href={hrefOfId(idOf(event.data.object) ?? "") ?? hrefOf("events", id)}>
                    {titleIn(event.data.object)}
                  </Link>
                </span>
                <span>
                  <ClockTime at={event.created} />
                </span>
                {event.request.id !== null && (
                  <span>
                    caused by{" "}
                    <Link href={hrefOf("logs", event.request.id)}>
                      {request === undefined ? "an API request" : <code>{`${request.method} ${request.path}`}</code>}
                    </Link>
                    {request !== undefined && Date.parse(event.created) - Date.parse(request.created) > 60_000 && (
                      <> at {clockTime(request.created)} real time</>
                    )}
                  </span>
                )}
              </div>
              {explanation !== undefined && <Trail chain={explanation.chain} />}
              {isPeeked && <Payload event={event} raw={raw} />}
              <Also
                explanation={explanation}
                remedyOf={(finding) =>
                  explanation && <Remedy chain={explanation.chain} finding={finding} onDone={again} isOneOfSeveral />
                }
              />
              {(others?.length !== 0 || causes.length === 0) && (
                <Card title={causes.length > 0 ? "Other deliveries" : "Deliveries"}>
                  <DeliveryTable
                    label="Deliveries of this event"
                    pages={{ ...deliveries, items: others }}
                    of="event"
                    empty={
                      <Empty icon="deliveries" title="Not sent to any endpoint">
                        <p>No enabled endpoint subscribed to its type.</p>
                      </Empty>
                    }
                  />
                </Card>
              )}
              {explanation && <ListenerResults chain={explanation.chain} />}
              {!isPeeked && <Payload event={event} raw={raw} />}
            </Below>
            {isReplaying && (
              <ReplayDialog
                event={event}
                deliveries={deliveries.items ?? []}
                onReplayed={setReplayed}
                onClose={() => {
                  setReplaying(false);
                  deliveries.reload();
                }}
              />
            )}
          </>
        )
      }
    </DetailPage>
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
      note={`${count(new TextEncoder().encode(raw).length)} bytes, sent and signed unchanged in every attempt`}
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
/** The endpoints to which the newest delivery has not arrived. */
const MISSED = "missed";

/** What became of a replay. */
function ReplayOutcome({ ids, deliveries }: { ids: readonly string[]; deliveries: readonly Delivery[] }) {
  const states = deliveries.filter(({ id }) => ids.includes(id)).map(stateOf);
  const number = (...of: string[]) => states.filter((state) => of.includes(state)).length;
  const parts = [
    [number("delivered"), "delivered"],
    [number("failed", "retrying", "canceled"), "not delivered"],
    [ids.length - number("delivered", "failed", "retrying", "canceled"), "in progress"],
  ] as const;
  return (
    <p class="notice" role="status">
      <strong>Replayed to {counted(ids.length, "receiver")}:</strong>{" "}
      {parts.flatMap(([total, words]) => (total === 0 ? [] : [`${count(total)} ${words}`])).join(", ")}.
    </p>
  );
}

function ReplayDialog(props: {
  event: Event;
  deliveries: readonly Delivery[];
  onReplayed: (ids: readonly string[]) => void;
  onClose: () => void;
}) {
  const call = useCall();
  const { event, deliveries, onReplayed, onClose } = props;
  const endpoints = (useEndpoints().items ?? []).filter(({ status }) => status === "enabled");
  const missed = decisiveDeliveries(deliveries).flatMap(({ endpoint: of, status }) =>
    of !== null && status !== "succeeded" && endpoints.some(({ id }) => id === of) ? [of] : [],
  );
  const [chosen, setChosen] = useState<string>();
  const endpoint = chosen ?? (missed.length > 0 ? MISSED : "");
  return (
    <Dialog title="Replay this event" onClose={onClose}>
      <p>The event is sent again with the same bytes and a new signature, also to listeners.</p>
      <Form
        submit="Replay now"
        fields={["endpoint"]}
        onCancel={onClose}
        run={async () => {
          const targets = endpoint === MISSED ? missed : [endpoint];
          const replays = await Promise.all(
            targets.map((target) =>
              call<Replay>("POST", `/v1/events/${event.id}/replay`, target === "" ? {} : { endpoint: target }),
            ),
          );
          const ids = replays.flatMap((replay) => replay.deliveries);
          if (ids.length === 0) showToast(NOBODY, false);
          onReplayed(ids);
          onClose();
        }}
      >
        {(error) => (
          <Field
            label="To"
            name="endpoint"
            value={endpoint}
            onInput={setChosen}
            error={error}
            options={[
              ...(missed.length > 0
                ? [[MISSED, `Only where it did not arrive: ${counted(missed.length, "endpoint")}`] as const]
                : []),
              ["", "All subscribed endpoints"],
              ...endpoints.map((one) => {
                const isSubscribed = matchesSubscriptions(one.events, event.type);
                return [one.id, `${nameOfEndpoint(one)}${isSubscribed ? "" : " (not subscribed)"}`] as const;
              }),
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
