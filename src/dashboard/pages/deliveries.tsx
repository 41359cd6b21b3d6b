import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { DELIVERY_FILTERS } from "../../contract/schemas/delivery.ts";
import { matchesSubscriptions } from "../../contract/event-types.ts";
import { nounOf, OBJECT_KINDS, type ObjectKind, pathOf, RESOURCES } from "../../contract/resources.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";
import { withQuery } from "../api/call.ts";
import { nameOfEndpoint, nameOfListener, subscriptionsOf, useEndpoints } from "../api/endpoints.ts";
import { type Item, useOwners } from "../api/objects.ts";
import { type Pages, usePages } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { Empty } from "../components/page.tsx";
import { type Column, PagedTable } from "../components/table.tsx";
import {
  ClockTime,
  DeliveryState,
  EventType,
  NextAttempt,
  None,
  RowTime,
  StatusCode,
  Url,
  Unknown,
} from "../components/values.tsx";
import { clockTime, count, counted } from "../format.ts";
import { errorInShort, isNotSent } from "../responses.ts";
import { hrefOf, Link } from "../router.tsx";
import { RetryDeliveries, RetryEach } from "./bulk.tsx";
import { AboutCell } from "./events/about.tsx";
import { useAbout } from "./events/find.ts";
import { RunningOperations } from "./operations.tsx";
import { DeliveryDetail } from "./delivery.tsx";
import { Choice, filterOf } from "./choice.tsx";
import { Chip, listFilters, oneOf, type Terms, TIME_TERMS } from "./filters.tsx";
import { listAndPage, ListPage, loadedOf } from "./list-page.tsx";
import { useEventsAbout } from "./objects/arrivals.tsx";
import { shortTitleOf } from "./objects/item.tsx";

/** States by the word of the API, which the URL filter and the CLI use, too. */
const STATES: readonly (readonly [value: "" | (typeof DELIVERY_FILTERS)[number], label: string])[] = [
  ["", "All"],
  ["pending", "Queued or retrying"],
  ["retrying", "Retrying"],
  ["succeeded", "Delivered"],
  ["failed", "Failed"],
  ["canceled", "Canceled"],
];
const RESPONSES = [
  ["", "All"],
  ...["2xx", "3xx", "4xx", "5xx"].map((code) => [code, code] as const),
  ["none", "No response"],
] as const;

/** The choice of all listeners. */
const LISTENERS = ["listeners", "Listeners"] as const;

export const Deliveries = listAndPage(DeliveryList, DeliveryDetail);

/** Returns the words of a search for deliveries. */
export function deliveryTerms(endpoints: readonly (readonly [id: string, name: string])[]): Terms {
  return {
    ...TIME_TERMS,
    status: oneOf("status", STATES),
    endpoint: oneOf("endpoint", endpoints),
    code: (text) => (/^([1-5](\d\d|xx)|none)$/i.test(text) ? { code: text.toLowerCase() } : undefined),
  };
}

function DeliveryList() {
  const { filters: own, isFiltered } = listFilters("status", "endpoint", "code", "query", "about");
  const { status, endpoint, code, about, ...others } = own;
  // Deliveries name no object: they are found by its events.
  const kind = OBJECT_KINDS.find((known) => about.startsWith(RESOURCES[known].prefix));
  const events = useEventsAbout(kind && about).found?.events.map(({ id }) => id);
  const query = kind === undefined ? others.query : (events?.join(",") ?? "");
  const isOfListeners = endpoint === LISTENERS[0];
  const receiver = isOfListeners ? { endpoint: "", receiver: "listener" } : { endpoint };
  const filters = { status, ...receiver, code, ...others, query };
  const isKnown = kind === undefined || events !== undefined;
  const pages = usePages<Delivery>(isKnown ? "/v1/deliveries" : undefined, filters);
  const endpoints = [LISTENERS, ...(useEndpoints().items ?? []).map((one) => [one.id, nameOfEndpoint(one)] as const)];
  // A link may name an endpoint that was deleted.
  const name = endpoints.find(([id]) => id === endpoint)?.[1];
  const isDeleted = endpoint !== "" && name === undefined;
  const known = endpoints.length === 1 || !isDeleted ? [] : [[endpoint, endpoint] as const];
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const open = (pages.items ?? []).filter((one) => one.endpoint !== null && one.status !== "succeeded");
  // Deliveries that left the list are no longer selected.
  const selected = (pages.items ?? []).filter((one) => chosen.has(one.id));
  const codes = RESPONSES.some(([value]) => value === code) ? RESPONSES : [...RESPONSES, [code, code] as const];
  return (
    <ListPage
      title="Deliveries"
      count={loadedOf(pages)}
      detail={DeliveryDetail}
      command="deliveries"
      filters={filters}
      search={{
        hint: "Search any value, or status:failed since:14:00",
        terms: deliveryTerms(endpoints),
        takes: (id) => /^(evt|we)_/.test(id),
      }}
      choices={
        <>
          {kind !== undefined && <AboutObject kind={kind} id={about} />}
          <Choice label="Status" name="status" options={STATES} />
          <Choice label="Endpoint" name="endpoint" options={[["", "All"], ...endpoints, ...known]} />
          <Choice label="Response" name="code" options={codes} />
        </>
      }
      actions={
        selected.length > 0 ? (
          <RetryEach
            class="primary"
            deliveries={selected}
            label={`Retry ${count(selected.length)} selected`}
            onDone={() => setChosen(new Set())}
          />
        ) : kind !== undefined ? (
          open.length > 0 && <RetryEach class="" deliveries={open} label={`Retry ${count(open.length)}`} />
        ) : isOfListeners ? null : (
          <RetryDeliveries
            {...(endpoint === "" ? {} : { endpoint: { id: endpoint, name: name ?? endpoint } })}
            filters={filters}
          />
        )
      }
    >
      <RunningOperations />
      <DeliveryTable
        label="Deliveries, newest first"
        pages={pages}
        search={kind === undefined ? (status === "retrying" ? status : code || query) : about}
        keepsPosition
        selection={{ chosen, onChoose: setChosen }}
        empty={
          <Empty icon="deliveries" title={isFiltered ? "No matching deliveries" : "No deliveries yet"}>
            {kind !== undefined ? (
              <p>No delivery about this {nounOf(kind)} has this state.</p>
            ) : query !== "" ? (
              <>
                <p>Deliveries are found by their endpoint, and by any value of their events. Others were not sent:</p>
                <p>
                  <Link class="button" href={hrefOf("events", "", { query })}>
                    Search the events for “{query.slice(0, 40)}”
                  </Link>
                </p>
              </>
            ) : endpoint === "" || isOfListeners || name === undefined ? (
              <p>Every event is sent to the endpoints that subscribe to its type, and to listeners.</p>
            ) : (
              <NothingSent endpoint={endpoint} name={name} />
            )}
          </Empty>
        }
      />
    </ListPage>
  );
}

/** The object whose deliveries are listed. */
function AboutObject({ kind, id }: { kind: ObjectKind; id: string }) {
  const { data } = useQuery<Item>(`${pathOf(kind)}/${id}`);
  return (
    <Chip label={RESOURCES[kind].label} name="about">
      <Link href={hrefOf(RESOURCES[kind].page.name, id)}>{data === undefined ? id : shortTitleOf(kind, data)}</Link>
    </Chip>
  );
}

/** Why an endpoint has no delivery in a list, as far as the events show it; its explanation covers the rest. */
function NothingSent({ endpoint: id, name }: { endpoint: string; name: string }) {
  const endpoint = useEndpoints().items?.find((one) => one.id === id);
  const { data } = useQuery<Statistics>(withQuery("/v1/statistics", { endpoint: id }));
  const after = filterOf("created_after");
  const last = data?.event_types.find(({ type }) => matchesSubscriptions(endpoint?.events ?? [], type));
  const subscribed = subscriptionsOf(endpoint?.events ?? []);
  const isLater = last !== undefined && after !== "" && last.last_at < after;
  return (
    <>
      {endpoint !== undefined && data !== undefined && (
        <p>
          {last === undefined ? (
            `No event that ${name} subscribes to (${subscribed}) has occurred.`
          ) : isLater ? (
            <>
              No event that {name} subscribes to ({subscribed}) has occurred since <ClockTime at={after} />. The last
              one was {last.type} at <ClockTime at={last.last_at} />.
            </>
          ) : endpoint.status === "disabled" ? (
            `${name} is disabled.`
          ) : null}
        </p>
      )}
      <p>
        <Link class="button" href={hrefOf("why", id)}>
          Why {name} got nothing
        </Link>
      </p>
    </>
  );
}

interface Selection {
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

/** A box for each delivery, and one for all of them. */
function choiceColumn({ chosen, onChoose }: Selection, deliveries: readonly Delivery[]): Column<Delivery> {
  const ids = deliveries.map(({ id }) => id);
  const areAll = ids.length > 0 && ids.every((id) => chosen.has(id));
  const toggle = (id: string) => {
    const others = new Set(chosen);
    if (!others.delete(id)) others.add(id);
    onChoose(others);
  };
  return {
    label: "Selected",
    from: "tablet",
    isTime: true,
    head: (
      <input
        type="checkbox"
        aria-label="Select all deliveries"
        checked={areAll}
        onChange={() => onChoose(new Set(areAll ? [] : ids))}
      />
    ),
    cell: ({ id, created }) => (
      <input
        type="checkbox"
        aria-label={`Select delivery of ${clockTime(created)}`}
        checked={chosen.has(id)}
        onChange={() => toggle(id)}
      />
    ),
  };
}

export function DeliveryTable(props: {
  label: string;
  pages: Pages<Delivery>;
  empty?: ComponentChildren;
  keepsPosition?: boolean;
  search?: string;
  /** Filters that all rows match are shown once, above the list. */
  of?: "event" | "endpoint";
  selection?: Selection;
}) {
  const endpoints = useEndpoints();
  const known = new Map(endpoints.items?.map((endpoint) => [endpoint.id, endpoint]));
  const isHeard = props.pages.items?.some(({ listener, target }) => listener !== null && target === null) === true;
  const { data: statistics } = useQuery<Statistics>(isHeard ? "/v1/statistics" : undefined);
  const receiver = (delivery: Delivery) => {
    const { endpoint } = delivery;
    const found = known.get(endpoint ?? "");
    if (found === undefined) {
      if (endpoint === null) return nameOfListener(delivery, statistics);
      return endpoints.items === undefined ? endpoint : "Deleted endpoint";
    }
    return found.description?.trim() ? found.description : <Url text={found.url} />;
  };
  const isOfEvent = props.of === "event";
  const events = isOfEvent ? [] : (props.pages.items ?? []).map(({ event }) => event);
  const aboutOf = useAbout(events);
  const ownerOf = useOwners(events.map((event) => aboutOf(event)?.reference ?? null));
  const columns: Column<Delivery>[] = [
    ...(props.selection === undefined ? [] : [choiceColumn(props.selection, props.pages.items ?? [])]),
    {
      label: "Time",
      isTime: true,
      ...(isOfEvent ? { from: "tablet" } : {}),
      cell: ({ created }) => <RowTime at={created} />,
    },
    {
      label: isOfEvent ? "Endpoint" : "Event",
      isLong: isOfEvent,
      cell: (delivery) => {
        const { id, endpoint, event, event_type: type } = delivery;
        const found = known.get(endpoint ?? "");
        const name = isOfEvent && !found?.description?.trim() ? found?.url : undefined;
        return (
          <Link class="main-link" href={hrefOf("deliveries", id)} row={id} {...(name !== undefined && { label: name })}>
            {isOfEvent ? receiver(delivery) : <EventType type={type} />}
            {!isOfEvent && (
              <span class="narrow-only soft">
                {aboutOf(event)?.name}
                {props.of === undefined && <> · {receiver(delivery)}</>}
              </span>
            )}
          </Link>
        );
      },
    },
    ...(isOfEvent
      ? []
      : [
          {
            label: "Object",
            from: "desktop",
            isLong: true,
            cell: ({ event }) => {
              const about = aboutOf(event);
              if (about === undefined) return <Unknown />;
              return about === null ? <None /> : <AboutCell about={about} ownerOf={ownerOf} />;
            },
          } satisfies Column<Delivery>,
        ]),
    ...(props.of === undefined
      ? [{ label: "Endpoint", from: "tablet", isLong: true, cell: receiver } satisfies Column<Delivery>]
      : []),
    {
      label: "State",
      cell: (delivery) => (
        <>
          <DeliveryState delivery={delivery} />
          {delivery.attempt_count > 0 && (
            <span class="narrow-only soft">
              {delivery.last_status_code ?? errorInShort(delivery.last_error)}
              {delivery.next_attempt !== null && (
                <>
                  {" · "}
                  <NextAttempt delivery={delivery} />
                </>
              )}
            </span>
          )}
        </>
      ),
    },
    {
      label: "Response",
      from: "tablet",
      cell: ({ last_status_code: code, last_error: error, attempt_count: recorded }) =>
        code === null && error === null ? (
          <None />
        ) : recorded > 1 && isNotSent(error) ? (
          // The last one is the reason why there are no more.
          <span class="soft">after {counted(recorded - 1, "attempt")}</span>
        ) : (
          <StatusCode code={code} error={error} hasPhrase />
        ),
    },
    {
      label: "Next attempt",
      from: "desktop",
      isNumber: true,
      isFor: ({ next_attempt: next }) => next !== null,
      cell: (delivery) => <NextAttempt delivery={delivery} />,
    },
  ];
  const { label, pages, empty, keepsPosition = false, search = "" } = props;
  return (
    <PagedTable
      label={label}
      pages={pages}
      empty={empty}
      keepsPosition={keepsPosition}
      search={search}
      columns={columns}
      timeOf={({ created }) => created}
    />
  );
}
