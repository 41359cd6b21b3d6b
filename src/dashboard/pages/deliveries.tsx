import type { ComponentChildren } from "preact";
import { statusesOf } from "../../contract/resources.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { type Pages, usePages } from "../api/pages.ts";
import { Empty, Page } from "../components/page.tsx";
import { type Column, PagedTable } from "../components/table.tsx";
import { DueTime, None, stateOf, Status, StatusCode, Time } from "../components/values.tsx";
import { hrefOf, Link, route } from "../router.tsx";
import { RetryFailed, RunningOperations } from "./bulk.tsx";
import { DeliveryDetail } from "./delivery.tsx";
import { Choice, createdFilters, CreatedRange, filterOf, Filters, Search, StatusChoice } from "./filters.tsx";

/** Statuses, and those pending that have failed before. */
const STATES = statusesOf("delivery").flatMap((status) => (status === "pending" ? [status, "retrying"] : [status]));

export function Deliveries() {
  const { id } = route.value;
  return id === "" ? <DeliveryList /> : <DeliveryDetail id={id} />;
}

export function useEndpoints(): Pages<WebhookEndpoint> {
  return usePages<WebhookEndpoint>("/v1/webhook_endpoints", {}, { limit: 100 });
}

function DeliveryList() {
  const [status, endpoint, query] = ["status", "endpoint", "query"].map(filterOf) as [string, string, string];
  const filters = { status, endpoint, query, ...createdFilters() };
  const pages = usePages<Delivery>("/v1/deliveries", filters);
  const endpoints = useEndpoints().items ?? [];
  const isFiltered = Object.values(filters).some((value) => value !== "");
  // A link may name an endpoint that was deleted.
  const named = endpoints.find(({ id }) => id === endpoint);
  const name = named?.description ?? named?.url ?? endpoint;
  const isDeleted = endpoint !== "" && named === undefined;
  return (
    <Page
      title="Deliveries"
      subtitle="One per event and endpoint, retried for 3 days."
      actions={<RetryFailed {...(endpoint === "" ? {} : { endpoint: { id: endpoint, name } })} filters={filters} />}
    >
      <RunningOperations />
      <Filters>
        <StatusChoice statuses={STATES} />
        <Choice
          label="Endpoint"
          name="endpoint"
          options={[
            ["", "All"],
            ...endpoints.map(({ id, url, description }) => [id, description ?? url] as const),
            ...(isDeleted ? [[endpoint, endpoint] as const] : []),
          ]}
        />
        <CreatedRange />
        <Search hint="ID, event type or endpoint" takes={(id) => /^(evt|we)_/.test(id)} />
      </Filters>
      <DeliveryTable
        label="Deliveries, newest first"
        pages={pages}
        search={status === "retrying" ? status : query}
        keepsPosition
        empty={
          <Empty icon="deliveries" title={isFiltered ? "No matching deliveries" : "No deliveries yet"}>
            <p>Every event is sent to the endpoints that subscribe to its type, and to listeners.</p>
          </Empty>
        }
      />
    </Page>
  );
}

/** Without room for all of a URL, its path is cut: who gets the events always shows. */
function Url({ text }: { text: string }) {
  const [, origin = text, path = ""] = /^(https?:\/\/[^/]+)(.*)$/.exec(text) ?? [];
  return (
    <span class="url">
      <span>{origin}</span>
      <span>{path}</span>
    </span>
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
  const urls = new Map(endpoints.items?.map(({ id, url }) => [id, url]));
  const nameOf = ({ endpoint, listener }: Delivery) => {
    if (endpoint === null) return `Listener ${listener}`;
    return urls.get(endpoint) ?? (endpoints.items === undefined ? endpoint : `${endpoint} (deleted)`);
  };
  const columns: Column<Delivery>[] = [
    {
      label: props.of === "event" ? "Endpoint" : "Event",
      isLong: props.of === "event",
      cell: (delivery) => {
        const href = hrefOf("deliveries", delivery.id);
        if (props.of !== "event") return <Link href={href}>{delivery.event_type}</Link>;
        const name = nameOf(delivery);
        return (
          <Link href={href} label={name}>
            <Url text={name} />
          </Link>
        );
      },
    },
    { label: "Status", cell: (delivery) => <Status status={stateOf(delivery)} /> },
    {
      label: "Last response",
      from: "tablet",
      cell: ({ last_status_code: code, last_error: error }) =>
        code === null && error === null ? <None /> : <StatusCode code={code} error={error} />,
    },
    ...(props.of === undefined
      ? [{ label: "Endpoint", from: "tablet", isLong: true, cell: nameOf } satisfies Column<Delivery>]
      : []),
    { label: "Attempts", from: "tablet", isNumber: true, cell: ({ attempt_count: attempts }) => attempts },
    {
      label: "Next attempt",
      from: "tablet",
      cell: ({ next_attempt: next }) => <DueTime at={next} />,
    },
    {
      label: "Created",
      ...(props.of === "event" ? { from: "tablet" } : {}),
      cell: ({ created }) => <Time at={created} />,
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
    />
  );
}
