import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Field, nounOf, nounsOf, OBJECT_KINDS, type ObjectKind, resourceOf } from "../../../contract/resources.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import type { ListedEvent } from "../../../contract/schemas/event.ts";
import { type ReceiverState, stateOf, tallyOf } from "../../../explain/states.ts";
import { useCall } from "../../api/call.ts";
import { nameOfEndpoint, nameOfListener, useEndpoints } from "../../api/endpoints.ts";
import { useExplanation } from "../../api/explanation.ts";
import { follow } from "../../api/live.ts";
import { useWasReady } from "../../components/page.tsx";
import { Table } from "../../components/table.tsx";
import { Status, Unknown } from "../../components/values.tsx";
import { environmentNow } from "../../clock.ts";
import { count, counted, shortTime } from "../../format.ts";
import { isNotSent, outcomeInWords } from "../../responses.ts";
import { hrefOf, Link } from "../../router.tsx";
import { RetryEach } from "../bulk.tsx";
import { EnableDialog } from "../enable.tsx";
import { type EventsOf, findEvents, type FoundEvents } from "../events/find.ts";
import { deliveriesOf, endpointsThatMissed, statesOfEvent } from "../events/outcomes.tsx";

/** While events happen, they are read this often. */
const PAUSE_MILLISECONDS = 3000;

/** Returns the kinds of objects that refer to one of this kind, and their fields that do. */
export function referringKinds(kind: ObjectKind): (readonly [kind: ObjectKind, field: string])[] {
  return OBJECT_KINDS.flatMap((other) =>
    Object.entries<Field>(resourceOf(other).fields ?? {}).flatMap(([name, { of, filter }]) =>
      of === kind && filter === true ? [[other, name] as const] : [],
    ),
  );
}

/** The newest events about an object and what refers to it, such as a customer's orders and their payments. */
export interface AboutObject {
  found: FoundEvents<ListedEvent> | undefined;
  /** The events of an object, and of what refers to it. */
  eventsOf: EventsOf;
}

/** Reads the events about an object, again while events happen. */
export function useEventsAbout(id: string | undefined, onFound?: (events: readonly string[]) => void): AboutObject {
  const call = useCall();
  const [found, setFound] = useState<FoundEvents<ListedEvent>>();
  useEffect(() => {
    if (id === undefined) return undefined;
    let isCurrent = true;
    const read = async () => {
      const events = await findEvents(call, [id]);
      if (isCurrent) setFound(events);
    };
    const readNow = () => {
      timer = undefined;
      read().catch(() => {});
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readSoon = () => (timer ??= setTimeout(readNow, PAUSE_MILLISECONDS));
    readNow();
    const stop = follow({ event: readSoon, missed: readSoon });
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      stop();
    };
  }, [id]);
  useEffect(() => onFound?.(found?.events.map((event) => event.id) ?? []), [found]);
  return {
    found,
    eventsOf: (object) =>
      found && {
        events: found.events.filter(({ data }) => Object.values(data?.object ?? {}).includes(object)),
        areAll: found.areAll,
      },
  };
}

function groupsOf(deliveries: readonly Delivery[], keyOf: (delivery: Delivery) => string): Map<string, Delivery[]> {
  const groups = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const key = keyOf(delivery);
    groups.set(key, [...(groups.get(key) ?? []), delivery]);
  }
  return groups;
}

/** Returns the status that all of some deliveries have, as a filter of their list. */
function commonStatus(deliveries: readonly Delivery[]): { status?: string } {
  const [first, ...others] = new Set(deliveries.map(({ status }) => status));
  return first === undefined || others.length > 0 ? {} : { status: first };
}

/** Of more receivers, the table is folded: the object itself is further below. */
const MAX_OPEN = 2;
/** The rest of the page waits for it at most this long. */
const WAIT_MILLISECONDS = 1500;

/**
 * Explains the newest event about an object that did not arrive everywhere, or else the last one. `isSettled` is true
 * once all that the page shows of its webhooks is known, or takes too long.
 */
export function useTold({ found }: AboutObject) {
  const [isLate, setLate] = useState(false);
  const { items: endpoints } = useEndpoints();
  const events = found && endpoints && deliveriesOf(found.events.map(({ id }) => id)) && found.events;
  const isOpen = (event: ListedEvent) => statesOfEvent(event, endpoints!)!.some((state) => state !== "delivered");
  const told = events && (events.find(isOpen) ?? events[0]);
  const { explanation, error } = useExplanation(told?.id);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), WAIT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, []);
  const isTold = events?.length === 0 || (explanation ?? error) !== undefined;
  return { told, chain: explanation?.chain, isSettled: useWasReady(isLate || isTold) };
}

/** Whether everything about an object arrived, in a sentence, how its event was sent, and on request what did not arrive. */
export function Arrivals(props: {
  kind: ObjectKind;
  id: string;
  about: AboutObject;
  /** The event that is explained, and how it was sent. */
  told: ListedEvent | undefined;
  children: ComponentChildren;
}) {
  const { kind, id, told, children } = props;
  const { found } = props.about;
  const { items: endpoints } = useEndpoints();
  const all = found && deliveriesOf(found.events.map((event) => event.id));
  if (found === undefined || all === undefined || endpoints === undefined) {
    return <div class="answer unknown long" />;
  }
  const { events, areAll } = found;
  const missing = all.filter(({ status }) => status !== "succeeded");
  const noun = nounOf(kind);
  const referring = referringKinds(kind).map(([other]) => other);
  const others = referring.map(nounsOf);
  const further = referring.flatMap((other) => referringKinds(other).map(([one]) => nounsOf(one)));
  const missed = events
    .map((event) => ({ event, by: endpointsThatMissed(event, endpoints) }))
    .filter(({ by }) => by.length > 0);
  const disabled = endpoints.filter((endpoint) => missed.some(({ by }) => by.includes(endpoint)));
  const states = events.flatMap((event) => statesOfEvent(event, endpoints) ?? []);
  const open = missing.filter(({ endpoint: of }) => endpoints.some((one) => one.id === of && one.status === "enabled"));
  return (
    <>
      <section class={missing.length + missed.length > 0 ? "answer bad" : "answer"} aria-label="Webhooks">
        <p>{arrivalInWords(states, noun, disabled.length)}</p>
        <p class="evidence">
          Counted over {areAll ? "" : "the newest "}
          {counted(events.length, "event")} of the {[noun, ...others].join(further.length > 0 ? ", its " : " and its ")}
          {further.length > 0 && ` and their ${further.join(" and ")}`}.{" "}
          {missing.length + missed.length === 0 ? (
            <Link href={hrefOf("why", id)}>Explain</Link>
          ) : (
            <Link href={hrefOf("why", told?.id ?? id)}>Explain the newest failure</Link>
          )}
          {missing.length > 0 && (
            <>
              , or{" "}
              <Link href={hrefOf("deliveries", "", { about: id, ...commonStatus(missing) })}>show the deliveries</Link>.
            </>
          )}
        </p>
        {open.length > 1 && (
          <div class="row-actions remedy">
            <RetryEach class="" deliveries={open} label={`Retry ${count(open.length)} deliveries`} />
          </div>
        )}
      </section>
      {children}
      {missing.length + missed.length > 0 && (
        <Missing
          about={id}
          noun={noun}
          deliveries={missing}
          missed={
            new Map(
              disabled.map((one) => [one.id, missed.filter(({ by }) => by.includes(one)).map(({ event }) => event.id)]),
            )
          }
        />
      )}
    </>
  );
}

const IN_WORDS: Readonly<Record<ReceiverState, (number: string, isOne: boolean) => string>> = {
  failed: (number) => `${number} failed`,
  retrying: (number, isOne) => `${number} ${isOne ? "is" : "are"} being retried`,
  missed: (number, isOne) => `${number} ${isOne ? "was" : "were"} missed`,
  held: (number, isOne) => `${number} ${isOne ? "is" : "are"} held for a disabled endpoint`,
  queued: (number, isOne) => `${number} ${isOne ? "is" : "are"} queued`,
  canceled: (number, isOne) => `${number} ${isOne ? "was" : "were"} canceled`,
  delivered: (number) => `${number} delivered`,
};

/** Returns how many webhooks about an object have not arrived, and why, in a sentence. */
function arrivalInWords(states: readonly ReceiverState[], noun: string, disabled: number): string {
  const tally = tallyOf(states).filter(([state]) => state !== "delivered");
  const missing = tally.reduce((sum, [, number]) => sum + number, 0);
  if (states.length === 0) return `No webhook about this ${noun} was sent.`;
  if (missing === 0) {
    return states.length === 1
      ? `The webhook about this ${noun} has arrived.`
      : `All ${count(states.length)} webhooks about this ${noun} have arrived.`;
  }
  const parts = tally.map(([state, number]) => IN_WORDS[state](count(number), number === 1));
  const of = `${count(missing)} of ${counted(states.length, "webhook")} about this ${noun}`;
  const why = parts
    .join(", ")
    .replace(/(?<= missed)/, ` because ${disabled === 1 ? "the endpoint is" : "the endpoints are"} disabled`);
  return `${of} ${missing === 1 ? "has" : "have"} not arrived: ${why}.`;
}

/** The deliveries that have not arrived, and the events that were not sent, by receiver. */
function Missing(props: {
  about: string;
  noun: string;
  deliveries: readonly Delivery[];
  /** The IDs of the events that each disabled endpoint missed. */
  missed: ReadonlyMap<string, readonly string[]>;
}) {
  const { about, noun, deliveries, missed } = props;
  const [enabling, setEnabling] = useState<WebhookEndpoint>();
  const endpoints = useEndpoints();
  const byReceiver = groupsOf(deliveries, ({ endpoint, listener }) => endpoint ?? listener ?? "");
  for (const id of missed.keys()) if (!byReceiver.has(id)) byReceiver.set(id, []);
  const rows = [...byReceiver].map(([id, own]) => {
    const endpoint = endpoints.items?.find((one) => one.id === id);
    const name =
      endpoint !== undefined
        ? nameOfEndpoint(endpoint)
        : own[0]?.endpoint === null
          ? nameOfListener(own[0], undefined)
          : endpoints.items === undefined
            ? undefined
            : "Deleted endpoint";
    return { id, name, own, endpoint, missed: missed.get(id) ?? [] };
  });
  return (
    <details open={rows.length <= MAX_OPEN}>
      <summary>{counted(rows.length, "receiver")}</summary>
      <Table
        label="Not arrived, by receiver"
        items={rows.toSorted((a, b) => b.own.length + b.missed.length - a.own.length - a.missed.length)}
        keyOf={({ id }) => id}
        columns={[
          {
            label: "Not arrived at",
            isLong: true,
            cell: ({ id, name, own, endpoint, missed: lost }) => (
              <>
                <Link
                  class="main-link"
                  href={
                    own.length === 0
                      ? hrefOf("events", "", { missed_by: id })
                      : hrefOf("deliveries", "", { about, ...(endpoint && { endpoint: id }), ...commonStatus(own) })
                  }
                >
                  <span title={name}>{name ?? <Unknown />}</span>
                </Link>
                <span class="narrow-only">{causeOf(own[0], endpoint)}</span>
                <span class="narrow-only">{statesOf(own, lost)}</span>
              </>
            ),
          },
          { label: "Why", from: "tablet", isLong: true, cell: ({ own, endpoint }) => causeOf(own[0], endpoint) },
          { label: "Deliveries", from: "tablet", cell: ({ own, missed: lost }) => statesOf(own, lost) },
          {
            label: "Actions",
            isFor: ({ endpoint }) => endpoint !== undefined,
            cell: ({ id, name, own, endpoint, missed: lost }) => (
              <span class="row-actions">
                {endpoint?.status === "enabled" ? (
                  <RetryEach class="small" deliveries={own} label={`Retry ${count(own.length)}`} of={name ?? id} />
                ) : (
                  <button
                    type="button"
                    class="small"
                    aria-label={`Enable and replay ${name ?? id}`}
                    onClick={() => setEnabling(endpoint)}
                  >
                    Enable and replay
                  </button>
                )}
                {enabling !== undefined && enabling.id === id && (
                  <EnableDialog
                    endpoint={enabling}
                    only={{ events: lost, about: noun }}
                    onChange={endpoints.reload}
                    onClose={() => setEnabling(undefined)}
                  />
                )}
              </span>
            ),
          },
        ]}
      />
    </details>
  );
}

/** How many of some deliveries are in each state, and the shape of the worst. */
function statesOf(deliveries: readonly Delivery[], missed: readonly string[]) {
  const tally = tallyOf([...deliveries.map(stateOf), ...missed.map((): ReceiverState => "missed")]);
  const words = tally.map(([state, number]) => `${count(number)} ${state}`);
  const worst = tally[0]?.[0] ?? "canceled";
  return <Status status={worst === "missed" ? "canceled" : worst} text={words.join(", ")} />;
}

/** Why a delivery has not arrived, in a few words. */
function causeOf(delivery: Delivery | undefined, endpoint: WebhookEndpoint | undefined) {
  if (delivery === undefined || endpoint?.status === "disabled") {
    const since = endpoint?.disabled_at ?? undefined;
    const when = since === undefined ? "" : ` since ${shortTime(Date.parse(since), environmentNow())}`;
    return <span class="soft">{`Disabled${when}${endpoint?.disabled_reason === "gone" ? ": 410 Gone" : ""}`}</span>;
  }
  const { last_status_code: code, last_error: error, attempt_count: attempts } = delivery;
  if (attempts === 0) return <span class="soft">Not attempted yet</span>;
  return <span class={isNotSent(error) ? "soft" : "bad-text"}>{outcomeInWords(code, error)}</span>;
}
