import type { ComponentChildren } from "preact";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";
import { nameOfListener, useEndpoints } from "../api/endpoints.ts";
import { useOwners } from "../api/objects.ts";
import type { Pages } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { type Column, PagedTable } from "../components/table.tsx";
import {
  DeliveryState,
  EventType,
  NextAttempt,
  None,
  RowTime,
  StatusCode,
  Unknown,
  Url,
} from "../components/values.tsx";
import { clockTime, counted } from "../format.ts";
import { errorInShort, isNotSent } from "../responses.ts";
import { hrefOf, Link } from "../router.tsx";
import { AboutCell } from "./events/about.tsx";
import { useAbout } from "./events/find.ts";

/** The deliveries that a user has selected. */
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
                {props.of === undefined && <>{receiver(delivery)} · </>}
                {aboutOf(event)?.name}
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
          <StatusCode code={code} error={error} />
        ),
    },
    {
      label: "Next attempt",
      from: "desktop",
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
