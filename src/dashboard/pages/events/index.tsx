import { useEffect, useMemo, useState } from "preact/hooks";
import { EVENT_TYPES, matchesSubscriptions, SUBSCRIPTION_WILDCARDS } from "../../../contract/event-types.ts";
import { LIMITS } from "../../../contract/limits.ts";
import type { BulkOperation } from "../../../contract/schemas/bulk-operation.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { ListedEvent } from "../../../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { notSentTo } from "../../../explain/unsent.ts";
import { useCall } from "../../api/call.ts";
import { nameOfEndpoint, useEndpoints } from "../../api/endpoints.ts";
import { type FindObject, useOwners } from "../../api/objects.ts";
import { usePages } from "../../api/pages.ts";
import { clockOffset } from "../../clock.ts";
import { Card, Empty, ErrorBox, LoadingStatus } from "../../components/page.tsx";
import { isUnfinished, NewRows, PagedTable, useSavedScroll } from "../../components/table.tsx";
import { EventType, RowTime } from "../../components/values.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import { count, dayOf, searchable } from "../../format.ts";
import { environment, hrefOf, Link } from "../../router.tsx";
import { DialogButton } from "../../components/action.tsx";
import { EnableDialog, missedBy, useFound } from "../enable.tsx";
import { Choice } from "../choice.tsx";
import { Chip, ClearFilters, listFilters, oneOf, type Terms, TIME_TERMS } from "../filters.tsx";
import { listAndPage, ListPage, loadedOf } from "../list-page.tsx";
import { AboutCell } from "./about.tsx";
import { changeInWords, changesOf, nameOf } from "./changes.ts";
import { EventDetail } from "./detail.tsx";
import { aboutOf } from "./find.ts";
import { EVENT_STATES, isInState, OutcomeOf, useOutcomes } from "./outcomes.tsx";
import { useEvents } from "./use-events.ts";

export const Events = listAndPage(EventList, EventDetail);

const ABOUT_ENDPOINTS = "webhook_endpoint.";
/** The choice without the events about endpoints. */
const OTHERS = `!${ABOUT_ENDPOINTS}*`;
const TYPES = [
  ["", "All"] as const,
  [OTHERS, `All but ${ABOUT_ENDPOINTS}*`] as const,
  ...[...SUBSCRIPTION_WILDCARDS.slice(1), ...EVENT_TYPES].map((name) => [name, name] as const),
];
const TERMS: Terms = { ...TIME_TERMS, type: oneOf("type", TYPES), state: oneOf("state", EVENT_STATES) };
const ROW_HEIGHT = 32;

/** Commands that cause an event. `service trigger` is for the sandbox only. */
const TRIGGER = "service trigger order.completed";
const CREATE = "service customers create --email ada@example.com";

function EventList() {
  const call = useCall();
  const { filters: own, isFiltered } = listFilters("type", "query", "missed_by", "state");
  const { missed_by: missedById, state, ...others } = own;
  const given = { ...others, type: others.type === OTHERS ? "" : others.type };
  const { query } = given;
  const { items: endpoints, reload } = useEndpoints();
  const missing = endpoints?.find(({ id, status }) => id === missedById && status === "disabled");
  const { created_after: after = "" } = missing === undefined ? {} : missedBy(missing);
  const filters = { ...given, created_after: given.created_after || after };
  const text = searchable(query);
  const list = useEvents(filters, (event) => text === "" || textOf(event).includes(text));
  const readOutcomes = useOutcomes();
  const { pendingCount, isComplete, error, loadMore, pagesRead } = list;
  // Those of the second in which it was disabled, and replayed ones, may have a delivery to it.
  const sent = usePages<Delivery>(missing && "/v1/deliveries", { endpoint: missedById, created_after: after });
  const got = new Set(sent.items?.map(({ event }) => event));
  const candidates =
    others.type !== OTHERS && missing === undefined
      ? list.events
      : list.events.filter(
          (event) =>
            (others.type !== OTHERS || !event.type.startsWith(ABOUT_ENDPOINTS)) &&
            (missing === undefined || (!got.has(event.id) && notSentTo(event, [missing], []).length > 0)),
        );
  const inState = state === "" ? [] : candidates.map((event) => isInState([event], endpoints, state));
  const shown = state === "" ? candidates : candidates.filter((_event, index) => inState[index] === true);
  const isSearch = query !== "" || missing !== undefined || state !== "" || others.type === OTHERS;
  const { type, created_after: from, created_before: before } = filters;
  const counted = {
    ...(type && { type }),
    ...(from && { created_after: from }),
    ...(before && { created_before: before }),
  };
  const isCounted = !isSearch && !isComplete;
  const { found: total } = useFound(isCounted ? JSON.stringify(counted) : "", async () =>
    isCounted
      ? (await call<BulkOperation>("POST", "/v1/events/replay", { ...counted, dry_run: true })).total
      : undefined,
  );
  useEffect(() => {
    if (state !== "") readOutcomes(candidates.map(({ id }) => id));
  }, [state, list.events, candidates.length]);
  const isLoading = list.isLoading || inState.includes(undefined);
  const today = new Date(Date.now() + clockOffset.value).toDateString();
  const rows = useMemo(() => withDays(shown, today), [shown, today]);
  const [inView, setInView] = useState<readonly ListedEvent[]>([]);
  const ownerOf = useOwners(inView.map((event) => aboutOf(event)?.reference ?? null));
  const readOn = () => {
    if (!isLoading && !isComplete && error === undefined) loadMore();
  };
  useSavedScroll({ isReady: !isLoading, hasMore: !isComplete && error === undefined, loadMore });
  const searchesOn = isSearch && !isComplete && isUnfinished(shown.length, pagesRead);
  useEffect(() => {
    // A request searches a part of the events only.
    if (searchesOn) readOn();
  });
  return (
    <ListPage
      title="Events"
      count={
        <span role="status">
          {[
            ...(shown.length === 0 && (isLoading || error !== undefined)
              ? []
              : [
                  isSearch
                    ? `${count(shown.length)}${isComplete || shown.length === 0 ? "" : "+"} found`
                    : loadedOf({ items: shown, hasMore: !isComplete }, total),
                ]),
            ...(isLoading ? [isSearch ? "searching…" : "loading…"] : []),
          ].join(", ")}
        </span>
      }
      detail={EventDetail}
      command={state === "" && others.type !== OTHERS ? "events" : undefined}
      filters={filters}
      search={{ hint: "Search any value, or type:order.* since:14:00", terms: TERMS }}
      choices={
        <>
          {missing !== undefined && (
            <Chip label="Missed by" name="missed_by">
              <Link href={hrefOf("endpoints", missing.id)}>{nameOfEndpoint(missing)}</Link>
            </Chip>
          )}
          <Choice label="State" name="state" options={EVENT_STATES} />
          <Choice label="Type" name="type" options={TYPES} />
        </>
      }
      actions={
        missing !== undefined && (
          <DialogButton
            class="primary"
            label="Enable and replay"
            dialog={(close) => <EnableDialog endpoint={missing} onChange={reload} onClose={close} />}
          />
        )
      }
    >
      {error !== undefined && <ErrorBox error={error} onRetry={loadMore} />}
      {shown.length === 0 && isLoading && <LoadingStatus />}
      {shown.length === 0 && error?.status === 0 && <Empty title="Not loaded" />}
      {shown.length === 0 && !isLoading && error === undefined && (
        <Empty
          icon="events"
          title={isFiltered ? "No matching events" : "No events yet"}
          {...(isFiltered ? {} : { command: environment.value === "live" ? CREATE : TRIGGER })}
        >
          {!isFiltered && <p>Create a customer or an order, and its event appears here. The CLI can create one:</p>}
          {isFiltered && (
            <p>
              {!isComplete && (
                <>
                  Searched the newest {count(pagesRead * LIMITS.searchedRows)}.{" "}
                  <button type="button" onClick={readOn}>
                    Search older
                  </button>{" "}
                </>
              )}
              <ClearFilters />
            </p>
          )}
        </Empty>
      )}
      {(shown.length > 0 || isLoading) && (
        <>
          <NewRows
            number={pendingCount}
            onShow={() => {
              scrollTo(0, 0);
              list.show();
            }}
          />
          <VirtualList
            label="Events, newest first"
            headings={["Time", "Event", "Object", "Deliveries"]}
            items={rows.length === 0 ? undefined : rows}
            keyOf={(row) => (typeof row === "string" ? row : row.id)}
            rowHeight={ROW_HEIGHT}
            row={(row) => eventRow(row, endpoints, ownerOf)}
            onShown={(some) => {
              const events = some.filter((row) => typeof row !== "string");
              if (state === "") readOutcomes(events.map(({ id }) => id));
              setInView((before) => (isSame(before, events) ? before : events));
            }}
            onNearEnd={readOn}
            onHold={list.hold}
          />
        </>
      )}
    </ListPage>
  );
}

/** Returns a function that computes a value of each event only once. */
function onceEach<Value>(compute: (event: ListedEvent) => Value): (event: ListedEvent) => Value {
  const known = new WeakMap<ListedEvent, Value>();
  return (event) => {
    if (!known.has(event)) known.set(event, compute(event));
    return known.get(event)!;
  };
}

/** Returns the local day of an event, as a number. */
const dayIn = onceEach(({ created }) => new Date(created).setHours(0, 0, 0, 0));

/** Returns the rows of a list: before the events of another day than real time's, that day. */
function withDays(events: readonly ListedEvent[], today: string): (ListedEvent | string)[] {
  const rows: (ListedEvent | string)[] = [];
  let last = new Date().setHours(0, 0, 0, 0);
  for (const event of events) {
    const day = dayIn(event);
    if (day !== last) rows.push(dayOf(event.created, Date.parse(today)) || "Today");
    last = day;
    rows.push(event);
  }
  return rows;
}

function isSame(before: readonly ListedEvent[], now: readonly ListedEvent[]): boolean {
  return before.length === now.length && before.every((event, index) => event === now[index]);
}

function eventRow(row: ListedEvent | string, endpoints: readonly WebhookEndpoint[] | undefined, ownerOf: FindObject) {
  if (typeof row === "string") {
    return (
      <span role="cell" class="day">
        {row}
      </span>
    );
  }
  const { id, type, created } = row;
  const about = aboutOf(row);
  return (
    <>
      <span role="cell">
        <RowTime at={created} />
      </span>
      <span role="cell">
        <Link href={hrefOf("events", id)} row={id} label={type}>
          <EventType type={type} />
        </Link>
      </span>
      <span role="cell" dir="auto">
        {about === null ? (
          <span class="bad-text">Damaged, and not sent</span>
        ) : (
          <AboutCell about={about} ownerOf={ownerOf} />
        )}
      </span>
      <span role="cell">
        <OutcomeOf event={row} endpoints={endpoints} notSent={whyNotSent(row, endpoints)} />
      </span>
    </>
  );
}

/** Returns why an event was sent to no endpoint, as far as the endpoints show it. */
function whyNotSent({ type, created }: ListedEvent, endpoints: readonly WebhookEndpoint[] = []): string {
  const isSubscribed = endpoints.some((one) => one.created <= created && matchesSubscriptions(one.events, type));
  return isSubscribed ? "Not sent" : "No endpoint subscribes";
}

/** Returns the values of an event as they are shown, without the names of its fields. */
const textOf = onceEach((event) => searchable([nameOf(event.data?.object ?? {}), ...valuesOf(event)].join("\n")));

function valuesOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(valuesOf);
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}

/** The events of an object. */
export function RelatedEvents({ id, note }: { id: string; note: string | false }) {
  const events = usePages<ListedEvent>("/v1/events", { related: id });
  const readOutcomes = useOutcomes();
  const { items: endpoints } = useEndpoints();
  useEffect(() => readOutcomes((events.items ?? []).map((event) => event.id)), [events.items]);
  return (
    <Card title="Events" note={note}>
      <PagedTable
        label="Events of this object"
        pages={events}
        timeOf={({ created }) => created}
        empty={<Empty icon="events" title="No events in the last 30 days" />}
        columns={[
          { label: "Time", isTime: true, cell: ({ created }) => <RowTime at={created} /> },
          {
            label: "Event",
            cell: ({ id: event, type }) => (
              <Link class="main-link" href={hrefOf("events", event)}>
                <EventType type={type} />
              </Link>
            ),
          },
          {
            label: "Changed fields",
            from: "tablet",
            isLong: true,
            isFor: (event) => changesOf(event).length > 0,
            cell: (event) => changesOf(event).map(changeInWords).join(", "),
          },
          {
            label: "Deliveries",
            cell: (event) => <OutcomeOf event={event} endpoints={endpoints} notSent={whyNotSent(event, endpoints)} />,
          },
        ]}
      />
    </Card>
  );
}
