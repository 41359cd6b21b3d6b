import { useState } from "preact/hooks";
import { matchesSubscriptions } from "../../contract/event-types.ts";
import { LIMITS } from "../../contract/limits.ts";
import { nounOf, OBJECT_KINDS, type ObjectKind, pathOf, RESOURCES } from "../../contract/resources.ts";
import type { Delivery, DELIVERY_FILTERS } from "../../contract/schemas/delivery.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";
import { withQuery } from "../api/call.ts";
import { nameOfEndpoint, subscriptionsOf, useEndpoints } from "../api/endpoints.ts";
import type { Item } from "../api/objects.ts";
import { usePages } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { Empty } from "../components/page.tsx";
import { ClockTime } from "../components/values.tsx";
import { count, counted } from "../format.ts";
import { filter, hrefOf, Link } from "../router.tsx";
import { RetryDeliveries, RetryEach } from "./bulk.tsx";
import { RunningOperations } from "./operations.tsx";
import { DeliveryDetail } from "./delivery.tsx";
import { DeliveryTable } from "./delivery-table.tsx";
import { Choice, filterOf } from "./choice.tsx";
import { Chip, ClearFilters, listFilters, oneOf, type Terms, TIME_TERMS } from "./filters.tsx";
import { listAndPage, ListPage, loadedOf } from "./list-page.tsx";
import { useEventsAbout } from "./objects/arrivals.tsx";
import { shortTitleOf } from "./objects/item.tsx";

/** States by the word of the API, which the URL filter and the CLI use, too. */
const STATES: readonly (readonly [value: "" | (typeof DELIVERY_FILTERS)[number], label: string])[] = [
  ["", "All"],
  ["undelivered", "Not delivered"],
  ["failed", "Failed: no more retries"],
  ["pending", "Retrying, queued or held"],
  ["retrying", "Retrying"],
  ["succeeded", "Delivered"],
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
  const { data: statistics } = useQuery<Statistics>("/v1/statistics");
  const isCounted = Object.entries(own).every(([filter, value]) => value === "" || /^(status|endpoint)$/.test(filter));
  const totals = isCounted ? totalsOf(endpoint, statistics) : {};
  return (
    <ListPage
      title="Deliveries"
      count={loadedOf(pages, totals[status])}
      detail={DeliveryDetail}
      command="deliveries"
      filters={filters}
      search={{
        hint: "Search any value, or status:undelivered since:14:00",
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
            {...(/^(undelivered|failed)$/.test(status) && totals[status]
              ? { label: `Retry ${counted(totals[status], "delivery", "deliveries")}` }
              : {})}
          />
        )
      }
    >
      <RunningOperations />
      {status === "failed" && isKnown && <StillTried filters={filters} total={totals["pending"]} />}
      <DeliveryTable
        label="Deliveries, newest first"
        pages={pages}
        {...(endpoint !== "" && !isOfListeners && { of: "endpoint" })}
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
              <p>
                {isFiltered ? (
                  <ClearFilters />
                ) : (
                  "Every event is sent to the endpoints that subscribe to its type, and to listeners."
                )}
              </p>
            ) : (
              <NothingSent endpoint={endpoint} name={name} />
            )}
          </Empty>
        }
      />
    </ListPage>
  );
}

/** Returns how many deliveries have each status, of those to an endpoint or to all, as far as the statistics count them. */
function totalsOf(endpoint: string, statistics: Statistics | undefined): Readonly<Record<string, number>> {
  const own = statistics?.endpoints.find((one) => one.endpoint === endpoint);
  const [pending, failed = LIMITS.maxCountedFailed] =
    endpoint === ""
      ? [statistics?.queue.pending, statistics?.failed_deliveries]
      : endpoint === LISTENERS[0]
        ? [0, statistics?.failed_listener_deliveries]
        : [own?.pending, own?.failed_deliveries];
  if (pending === undefined || failed >= LIMITS.maxCountedFailed) return {};
  return { pending, failed, undelivered: pending + failed };
}

/** Below failed deliveries, those that have not arrived either, but get further attempts. */
function StillTried({ filters, total }: { filters: Record<string, string>; total: number | undefined }) {
  const query = { ...filters, status: "pending", limit: LIMITS.maxPageSize };
  const { data } = useQuery<{ data: Delivery[]; has_more: boolean }>(withQuery("/v1/deliveries", query));
  const number = data?.data.length ?? 0;
  if (number === 0) return null;
  const words = count(total ?? number) + (total === undefined && data!.has_more ? "+" : "");
  return (
    <p class="soft" role="status">
      {words} more {number === 1 ? "has" : "have"} not arrived, and {number === 1 ? "is" : "are"} being retried or held.{" "}
      <button type="button" class="small" onClick={() => filter({ status: "undelivered" })}>
        Show them
      </button>
    </p>
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
