import { useEffect, useMemo, useState } from "preact/hooks";
import { EVENT_TYPES, SUBSCRIPTION_WILDCARDS } from "../../../contract/event-types.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import { Page } from "../../components/page.tsx";
import { Empty, ErrorBox, Loading } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import { count, money } from "../../format.ts";
import { go, hrefOf, Link, place } from "../../router.tsx";
import { useEvents } from "./use-events.ts";

const ROW_HEIGHT = 36;
/** A search reads on until it has found so many. */
const ENOUGH_FOUND = 50;

export function EventList() {
  const type = place.value.query.get("type") ?? "";
  const [search, setSearch] = useState("");
  const { events, held, isLoading, isComplete, error, loadMore, hold } = useEvents(type);
  const wanted = search.trim().toLowerCase();
  const shown = useMemo(
    () => (wanted === "" ? events : events.filter((event) => textOf(event).includes(wanted))),
    [events, wanted],
  );
  const readOn = () => {
    if (!isLoading && !isComplete && error === undefined) loadMore();
  };
  useEffect(() => {
    // What is searched for may lie in pages that were not read yet.
    if (wanted !== "" && shown.length < ENOUGH_FOUND) readOn();
  });
  return (
    <Page title="Events" subtitle="Everything that happened, as it happens. Kept for 30 days.">
      <div class="filters" role="search">
        <label>
          Type
          <select
            value={type}
            onChange={(event) => {
              const chosen = event.currentTarget.value;
              go(hrefOf("events", "", chosen === "" ? {} : { type: chosen }), { replace: true });
            }}
          >
            <option value="">All types</option>
            {[...SUBSCRIPTION_WILDCARDS.slice(1), ...EVENT_TYPES].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="grow">
          Search
          <input
            type="search"
            value={search}
            placeholder="Id, email, amount, or any text of the event"
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <p class="soft" role="status">
          {count(shown.length)} of {count(events.length)} read
          {isComplete ? "" : isLoading ? ", reading…" : ", more below"}
        </p>
      </div>
      {error !== undefined && <ErrorBox error={error} onRetry={loadMore} />}
      {shown.length === 0 && isLoading && <Loading />}
      {shown.length === 0 && !isLoading && error === undefined && (
        <Empty title={wanted === "" ? "No events yet." : "No event holds that text."}>
          <p>
            {wanted === ""
              ? "Create a customer or an order, and its event appears here at once."
              : `The newest ${count(events.length)} events were searched.`}
          </p>
        </Empty>
      )}
      {shown.length > 0 && (
        <div class="virtual-frame">
          {held > 0 && (
            <button
              type="button"
              class="primary new-rows"
              onClick={() => {
                document.querySelector(".virtual-body")?.scrollTo(0, 0);
                hold(false);
              }}
            >
              {count(held)} new
            </button>
          )}
          <VirtualList
            label="Events, newest first"
            headings={["Type", "About", "Id", "Time"]}
            items={shown}
            keyOf={({ id }) => id}
            rowHeight={ROW_HEIGHT}
            row={eventRow}
            onNearEnd={readOn}
            onScrolled={(isAtTop) => hold(!isAtTop)}
          />
        </div>
      )}
    </Page>
  );
}

function eventRow({ id, type, created, data }: Event) {
  return (
    <>
      <span role="cell">
        <Link href={hrefOf("events", id)}>{type}</Link>
      </span>
      <span role="cell">{aboutOf(data.object)}</span>
      <span role="cell">
        <code>{id}</code>
      </span>
      <span role="cell">
        <Time at={created} />
      </span>
    </>
  );
}

/** What the event's object is called, for a line. */
function aboutOf(object: Record<string, unknown>): string {
  const { email, amount, currency, url, id } = object;
  if (typeof email === "string") return email;
  if (typeof amount === "number" && typeof currency === "string") return money(amount, currency);
  if (typeof url === "string") return url;
  return typeof id === "string" ? id : "";
}

const texts = new WeakMap<Event, string>();

function textOf(event: Event): string {
  let text = texts.get(event);
  if (text === undefined) {
    text = JSON.stringify(event).toLowerCase();
    texts.set(event, text);
  }
  return text;
}
