import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import type { Pages } from "../api/pages.ts";
import { clockOffset } from "../clock.ts";
import { count, dayOf } from "../format.ts";
import { ErrorBox, Loading } from "./page.tsx";
import { peekedId, savedScroll } from "../router.tsx";

export interface Column<Item> {
  label: string;
  /** Shown in the heading instead of the label, which then only a screen reader reads. */
  head?: ComponentChildren;
  cell: (item: Item) => ComponentChildren;
  /** Whether a row has a value here; a column without any is omitted. */
  isFor?: (item: Item) => boolean;
  /** The narrowest screen that shows it, unless all do. */
  from?: "tablet" | "desktop";
  isNumber?: boolean;
  /** True for a time of day, whose day is a row of its own. */
  isTime?: boolean;
  /** True for text of any length, which fills the remaining width. */
  isLong?: boolean;
}

/** A table with a heading per column. The first link of a row applies to the row: a click anywhere follows it. */
export function Table<Item>(props: {
  label: string;
  columns: readonly Column<Item>[];
  items: readonly Item[];
  keyOf: (item: Item) => string;
  /** The time of a row: rows from earlier days follow a row with their date. */
  timeOf?: ((item: Item) => string) | undefined;
  isReal?: boolean | undefined;
  onHold?: (isHeld: boolean) => void;
}) {
  const { timeOf, isReal = false } = props;
  const now = Date.now() + (isReal ? 0 : clockOffset.value);
  const days = props.items.map((item) => (timeOf === undefined ? "" : dayOf(timeOf(item), now)));
  const columns = props.columns.filter(({ isFor }) => isFor === undefined || props.items.some(isFor));
  const classOf = ({ from, isNumber, isTime, isLong }: Column<Item>) =>
    [from && `from-${from}`, isNumber && "number", isTime && "time", isLong && "long"].filter(Boolean).join(" ") ||
    undefined;
  const { onHold } = props;
  return (
    <div class="table" role="region" aria-label={props.label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} scope="col" class={classOf(column)}>
                {column.head ?? (column.label === "Actions" ? <span class="sr-only">Actions</span> : column.label)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onPointerEnter={() => onHold?.(true)} onPointerLeave={() => onHold?.(false)} onClick={followRow}>
          {props.items.map((item, index) => (
            <Fragment key={props.keyOf(item)}>
              {days[index] !== (days[index - 1] ?? "") && (
                <tr class="day">
                  <th colSpan={columns.length} scope="rowgroup">
                    {days[index] || "Today"}
                  </th>
                </tr>
              )}
              <tr data-row>
                {columns.map((column) => (
                  <td key={column.label} class={classOf(column)}>
                    {column.isFor?.(item) !== false && <div dir="auto">{column.cell(item)}</div>}
                  </td>
                ))}
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Follows the row's link as if it had been clicked itself, with the same modifier keys. */
export function followRow(event: MouseEvent): void {
  const target = event.target as HTMLElement;
  if (target.closest("a, button, input, label, dialog") !== null || String(getSelection()) !== "") return;
  const link = target.closest("[data-row]")?.querySelector("a");
  const { ctrlKey, metaKey, shiftKey, detail } = event;
  link?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey, detail }));
}

/** New rows are shown at once only if the top of the list is visible. */
const TOP_PIXELS = 80;

const ENOUGH_FOUND = 20;
const ENOUGH_PAGES = 10;

/** Returns true while a search should read further pages automatically. */
export function isUnfinished(found: number, pagesRead: number): boolean {
  return found < ENOUGH_FOUND && pagesRead < ENOUGH_PAGES;
}

/** The loaded part of a list, with a way to load more. */
export function PagedTable<Item extends { id: string }>(props: {
  label: string;
  columns: readonly Column<Item>[];
  pages: Pages<Item>;
  /** Shown if the list is empty. */
  empty: ComponentChildren;
  /** The search text: pages with few matches are followed by more. */
  search?: string;
  /** True for the list of a page: visible rows do not move. */
  keepsPosition?: boolean;
  timeOf?: (item: Item) => string;
  isReal?: boolean;
  /** Called when the pointer enters or leaves the rows. */
  onHold?: (isHeld: boolean) => void;
}) {
  const { items: shown, error, hasMore, isLoading, pendingCount, hold, startOver, loadMore, reload } = props.pages;
  const { keepsPosition = false, search = "" } = props;
  const { pagesRead } = props.pages;
  const foundFew = search !== "" && isUnfinished(shown?.length ?? 0, 0);
  const searchesOn = foundFew && hasMore && error === undefined && isUnfinished(0, pagesRead);
  useEffect(() => {
    if (searchesOn && !isLoading) loadMore();
  });
  const scroll = useRef(keepsPosition ? savedScroll() : 0);
  useEffect(() => {
    if (scroll.current === 0 || shown === undefined || isLoading) return;
    const isReached = document.documentElement.scrollHeight - innerHeight >= scroll.current;
    if (hasMore && !isReached && error === undefined) return loadMore();
    scrollTo(0, scroll.current);
    scroll.current = 0;
  });
  useEffect(() => {
    if (!keepsPosition) return undefined;
    const onScroll = () => hold(scrollY > TOP_PIXELS);
    addEventListener("scroll", onScroll);
    return () => removeEventListener("scroll", onScroll);
  }, [keepsPosition, props.label]);
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {shown === undefined && error === undefined && <Loading />}
      {pendingCount > 0 && (
        <p class="new-rows">
          <button
            type="button"
            class="primary"
            onClick={() => {
              scrollTo(0, 0);
              startOver();
            }}
          >
            {pendingCount < 50 ? `${count(pendingCount)} new` : "50+ new"}
          </button>
        </p>
      )}
      {shown?.length === 0 && !hasMore && props.empty}
      {shown !== undefined && shown.length > 0 && (
        <Table
          label={props.label}
          columns={props.columns}
          items={shown}
          keyOf={({ id }) => id}
          timeOf={props.timeOf}
          isReal={props.isReal}
          onHold={(isHeld) => {
            if (keepsPosition) hold(isHeld || scrollY > TOP_PIXELS || peekedId.value !== "");
            props.onHold?.(isHeld);
          }}
        />
      )}
      {foundFew && hasMore && (
        <p class="soft" role="status">
          {searchesOn ? "Searching…" : `Searched the newest ${count(pagesRead * LIMITS.searchedRows)}.`}
        </p>
      )}
      {hasMore && !searchesOn && (
        <p class="more">
          <button type="button" disabled={isLoading} onClick={loadMore}>
            {isLoading ? "Loading…" : foundFew ? "Search older" : "Load more"}
          </button>
        </p>
      )}
    </>
  );
}
