import type { ComponentChildren } from "preact";
import type { DELIVERY_FILTERS } from "../../contract/schemas/delivery.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import { nameOfEndpoint, useEndpoints } from "../api/endpoints.ts";
import { type Pages, usePages } from "../api/pages.ts";
import { Empty, Page } from "../components/page.tsx";
import { Split } from "../components/split.tsx";
import { type Column, PagedTable } from "../components/table.tsx";
import { DeliveryState, DueTime, EventType, None, RowTime, StatusCode, Url } from "../components/values.tsx";
import { hrefOf, Link, route } from "../router.tsx";
import { RetryFailed, RunningOperations } from "./bulk.tsx";
import { DeliveryDetail } from "./delivery.tsx";
import {
  Choice,
  CopyCommand,
  createdFilters,
  CreatedRange,
  filterOf,
  Filters,
  oneOf,
  Search,
  type Terms,
  TIME_TERMS,
} from "./filters.tsx";

/** States by the word of the API, which the filter of the URL and the command have too. */
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
  ["2xx", "2xx"],
  ["3xx", "3xx"],
  ["4xx", "4xx"],
  ["5xx", "5xx"],
  ["none", "No response"],
] as const;

export function Deliveries() {
  const { id } = route.value;
  return id === "" ? <DeliveryList /> : <DeliveryDetail id={id} />;
}

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
  const [status, endpoint, code, query] = ["status", "endpoint", "code", "query"].map(filterOf) as [
    string,
    string,
    string,
    string,
  ];
  const filters = { status, endpoint, code, query, ...createdFilters() };
  const pages = usePages<Delivery>("/v1/deliveries", filters);
  const endpoints = (useEndpoints().items ?? []).map((one) => [one.id, nameOfEndpoint(one)] as const);
  const isFiltered = Object.values(filters).some((value) => value !== "");
  // A link may name an endpoint that was deleted.
  const name = endpoints.find(([id]) => id === endpoint)?.[1];
  const isDeleted = endpoint !== "" && name === undefined;
  const known = endpoints.length === 0 || !isDeleted ? [] : [[endpoint, endpoint] as const];
  const codes = RESPONSES.some(([value]) => value === code) ? RESPONSES : [...RESPONSES, [code, code] as const];
  return (
    <Split detail={DeliveryDetail}>
      <Page
        title="Deliveries"
        actions={
          <>
            <CopyCommand of="deliveries" filters={filters} />
            <RetryFailed
              {...(endpoint === "" ? {} : { endpoint: { id: endpoint, name: name ?? endpoint } })}
              filters={filters}
            />
          </>
        }
      >
        <RunningOperations />
        <Filters>
          <Search
            hint="Search, or status:retrying endpoint:name code:5xx since:14:00"
            terms={deliveryTerms(endpoints)}
            takes={(id) => /^(evt|we)_/.test(id)}
          />
          <Choice label="Status" name="status" options={STATES} />
          <Choice label="Endpoint" name="endpoint" options={[["", "All"], ...endpoints, ...known]} />
          <Choice label="Response" name="code" options={codes} />
          <CreatedRange />
        </Filters>
        <DeliveryTable
          label="Deliveries, newest first"
          pages={pages}
          search={status === "retrying" ? status : code || query}
          keepsPosition
          empty={
            <Empty icon="deliveries" title={isFiltered ? "No matching deliveries" : "No deliveries yet"}>
              <p>Every event is sent to the endpoints that subscribe to its type, and to listeners.</p>
            </Empty>
          }
        />
      </Page>
    </Split>
  );
}

export function DeliveryTable(props: {
  label: string;
  pages: Pages<Delivery>;
  empty?: ComponentChildren;
  keepsPosition?: boolean;
  search?: string;
  /** Filters that all rows match are shown once, above the list. */
  of?: "event" | "endpoint";
}) {
  const endpoints = useEndpoints();
  const known = new Map(endpoints.items?.map((endpoint) => [endpoint.id, endpoint]));
  const receiver = ({ endpoint, listener }: Delivery) => {
    const found = known.get(endpoint ?? "");
    if (found === undefined) {
      return endpoint === null ? `Listener ${listener}` : endpoints.items === undefined ? endpoint : "Deleted endpoint";
    }
    return found.description?.trim() ? found.description : <Url text={found.url} />;
  };
  const isOfEvent = props.of === "event";
  const columns: Column<Delivery>[] = [
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
        const { id, endpoint, event_type: type } = delivery;
        const found = known.get(endpoint ?? "");
        const name = isOfEvent && !found?.description?.trim() ? found?.url : undefined;
        return (
          <Link class="main-link" href={hrefOf("deliveries", id)} row={id} {...(name !== undefined && { label: name })}>
            {isOfEvent ? receiver(delivery) : <EventType type={type} />}
            {props.of === undefined && <span class="narrow-only soft">{receiver(delivery)}</span>}
          </Link>
        );
      },
    },
    ...(props.of === undefined
      ? [{ label: "Endpoint", from: "tablet", isLong: true, cell: receiver } satisfies Column<Delivery>]
      : []),
    { label: "State", cell: (delivery) => <DeliveryState delivery={delivery} /> },
    {
      label: "Response",
      from: "tablet",
      isNumber: true,
      cell: ({ last_status_code: code, last_error: error }) =>
        code === null && error === null ? <None /> : <StatusCode code={code} error={error} />,
    },
    {
      label: "Next attempt",
      from: "desktop",
      isNumber: true,
      isFor: ({ next_attempt: next }) => next !== null,
      cell: ({ next_attempt: next }) => <DueTime at={next} />,
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
