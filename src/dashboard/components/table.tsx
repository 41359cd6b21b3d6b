import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import type { Pages } from "../api/pages.ts";
import { clockOffset } from "../clock.ts";
import { count, dayOf } from "../format.ts";
import { Empty, ErrorBox, LoadingStatus } from "./page.tsx";
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
  /** True for the state of deliveries. Its text arrives after the row, so the column has a fixed width. */
  isOutcome?: boolean;
}

/** A table with a heading per column. The first link of a row applies to the row: a click anywhere follows it. */
export function Table<Item>(props: {
  label: string;
  columns: readonly Column<Item>[];
  /** Undefined while they are loaded: rows of the same height take their places. */
  items: readonly Item[] | undefined;
  keyOf: (item: Item) => string;
  /** The time of a row: rows from earlier days follow a row with their date. */
  timeOf?: ((item: Item) => string) | undefined;
  isReal?: boolean | undefined;
  isGone?: (item: Item) => boolean;
  /** True for rows in the order of states that change: they keep their places while the list is held. */
  isRanked?: boolean | undefined;
  /** Called when the pointer or the focus enters or leaves the rows. */
  onHold?: (isHeld: boolean) => void;
}) {
  const { timeOf, keyOf, isReal = false, isRanked = false, onHold } = props;
  const [order, setOrder] = useState<readonly string[]>();
  const hold = useHold((isHeld) => {
    onHold?.(isHeld);
    if (isRanked) setOrder(isHeld ? items.map(keyOf) : undefined);
  });
  const { items: given = [] } = props;
  const items = order === undefined ? given : inOrder(given, keyOf, order);
  const now = Date.now() + (isReal ? 0 : clockOffset.value);
  const dayAt = (index: number) => (index < 0 || timeOf === undefined ? "" : dayOf(timeOf(items[index]!), now));
  const columns = props.columns.filter(
    ({ isFor }) => isFor === undefined || props.items === undefined || items.some(isFor),
  );
  const classOf = ({ from, isNumber, isTime, isLong, isOutcome }: Column<Item>) =>
    [from && `from-${from}`, isNumber && "number", isTime && "time", isLong && "long", isOutcome && "outcome"]
      .filter(Boolean)
      .join(" ") || undefined;
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
        {props.items === undefined && (
          <tbody>
            {SKELETON.map((row) => (
              <tr key={row} class="skeleton" aria-hidden="true">
                {columns.map((column) => (
                  <td key={column.label} class={classOf(column)}>
                    <div>{column.head === undefined && <span />}</div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        )}
        {Array.from({ length: Math.ceil(items.length / GROUP_ROWS) }, (_group, group) => (
          <RowGroup key={group} canHide={items.length > MAX_DRAWN_ROWS} handlers={{ ...hold, onClick: followRow }}>
            {() =>
              items.slice(group * GROUP_ROWS, (group + 1) * GROUP_ROWS).map((item, place) => {
                const index = group * GROUP_ROWS + place;
                const day = dayAt(index);
                return (
                  <Fragment key={keyOf(item)}>
                    {day !== dayAt(index - 1) && (
                      <tr class="day">
                        <th colSpan={columns.length} scope="rowgroup">
                          {day || "Today"}
                        </th>
                      </tr>
                    )}
                    <tr data-row class={props.isGone?.(item) === true ? "gone" : undefined}>
                      {columns.map((column) => (
                        <td key={column.label} class={classOf(column)}>
                          {column.isFor?.(item) !== false && <div dir="auto">{column.cell(item)}</div>}
                        </td>
                      ))}
                    </tr>
                  </Fragment>
                );
              })
            }
          </RowGroup>
        ))}
      </table>
    </div>
  );
}

const GROUP_ROWS = 50;
/** Of a longer list, only the groups of rows near the screen are in the DOM. */
const MAX_DRAWN_ROWS = 200;

/** A part of a table's rows. Away from the screen, a space of the same height takes their place. */
function RowGroup(props: { canHide: boolean; handlers: object; children: () => ComponentChildren }) {
  const element = useRef<HTMLTableSectionElement>(null);
  const [hiddenHeight, setHiddenHeight] = useState<number>();
  useEffect(() => {
    if (!props.canHide) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        const { target, isIntersecting, boundingClientRect } = entry!;
        if (isIntersecting || target.contains(document.activeElement)) setHiddenHeight(undefined);
        else setHiddenHeight(boundingClientRect.height);
      },
      { rootMargin: "1000px 0px" },
    );
    observer.observe(element.current!);
    return () => {
      observer.disconnect();
      setHiddenHeight(undefined);
    };
  }, [props.canHide]);
  return (
    <tbody ref={element} {...props.handlers}>
      {hiddenHeight === undefined ? (
        props.children()
      ) : (
        <tr aria-hidden="true" style={{ height: `${hiddenHeight}px` }} />
      )}
    </tbody>
  );
}

/** Rows of a list that is loaded. */
export const SKELETON = Array.from({ length: 10 }, (_row, index) => index);

/** Returns items in the order of their keys, and new ones after them. */
function inOrder<Item>(items: readonly Item[], keyOf: (item: Item) => string, order: readonly string[]): Item[] {
  const places = new Map(order.map((key, place) => [key, place]));
  const placeOf = (item: Item) => places.get(keyOf(item)) ?? order.length;
  return items.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Returns the handlers of a box that is held while the pointer or the focus is in it. */
export function useHold(onHold: (isHeld: boolean) => void) {
  const isPointed = useRef(false);
  const holds = ({ currentTarget }: Event, focused: EventTarget | null) =>
    (currentTarget as Node).contains(focused as Node | null);
  const point = (isNow: boolean) => (event: Event) => {
    isPointed.current = isNow;
    onHold(isNow || holds(event, document.activeElement));
  };
  return {
    onPointerEnter: point(true),
    onPointerLeave: point(false),
    onFocusIn: () => onHold(true),
    onFocusOut: (event: FocusEvent) => onHold(isPointed.current || holds(event, event.relatedTarget)),
  };
}

/** Offers rows that arrived while the list was held. Its key works from any of the rows. */
export function NewRows({ number, max, onShow }: { number: number; max?: number; onShow: () => void }) {
  const words = max !== undefined && number >= max ? `${max}+ new` : `${count(number)} new`;
  return (
    <>
      {/* The same text for any number: each change would be read out. */}
      <span class="sr-only" role="status">
        {number > 0 && "New rows. Press n to show them."}
      </span>
      {number > 0 && (
        <p class="new-rows">
          <button
            type="button"
            class="primary"
            data-shortcut="n"
            aria-keyshortcuts="n"
            onClick={({ currentTarget, detail }) => {
              const list = currentTarget.parentElement!.nextElementSibling;
              onShow();
              // The button disappears: from the keyboard, the focus moves to the first of the new rows.
              if (detail > 0) return;
              requestAnimationFrame(() => list?.querySelector<HTMLElement>("[data-row] a")?.focus());
            }}
          >
            {words}
          </button>
        </p>
      )}
    </>
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

/** Returns true while the rows of a page's list must not move: it is scrolled, or one of them is shown next to it. */
export function isBeingRead(): boolean {
  return scrollY > TOP_PIXELS || peekedId.value !== "";
}

/** Restores the scroll position of a list after a page load, once enough of it is read. */
export function useSavedScroll(list: { isReady: boolean; hasMore: boolean; loadMore: () => void; isKept?: boolean }) {
  const { isReady, hasMore, loadMore, isKept = true } = list;
  const scroll = useRef(isKept ? savedScroll() : 0);
  useEffect(() => {
    if (scroll.current === 0 || !isReady) return;
    const isReached = document.documentElement.scrollHeight - innerHeight >= scroll.current;
    if (hasMore && !isReached) return loadMore();
    scrollTo(0, scroll.current);
    scroll.current = 0;
  });
}
/** A list whose end is this close is continued. */
const NEAR_END_PIXELS = 2000;

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
  /** True for the list of a page, which is also held while it is scrolled. */
  keepsPosition?: boolean;
  timeOf?: (item: Item) => string;
  isReal?: boolean;
  isRanked?: boolean;
}) {
  const { items: shown, error, hasMore, isLoading, pendingCount, hold, startOver, loadMore, reload } = props.pages;
  const { keepsPosition = false, search = "" } = props;
  const { pagesRead } = props.pages;
  const foundFew = search !== "" && isUnfinished(shown?.length ?? 0, 0);
  const searchesOn = foundFew && hasMore && error === undefined && isUnfinished(0, pagesRead);
  useEffect(() => {
    if (searchesOn && !isLoading) loadMore();
  });
  useSavedScroll({
    isReady: shown !== undefined && !isLoading,
    hasMore: hasMore && error === undefined,
    loadMore,
    isKept: keepsPosition,
  });
  useEffect(() => {
    if (!keepsPosition) return undefined;
    const onScroll = () => {
      hold(isBeingRead());
      const below = document.documentElement.scrollHeight - innerHeight - scrollY;
      if (hasMore && !foundFew && !isLoading && error === undefined && below < NEAR_END_PIXELS) loadMore();
    };
    // At the end of the page there is no further scroll event.
    if (scrollY > 0) onScroll();
    addEventListener("scroll", onScroll);
    return () => removeEventListener("scroll", onScroll);
  });
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {shown === undefined && error === undefined && <LoadingStatus />}
      {shown === undefined && error?.status === 0 && <Empty title="Not loaded" />}
      <NewRows
        number={pendingCount}
        max={50}
        onShow={() => {
          if (keepsPosition) scrollTo(0, 0);
          startOver();
        }}
      />
      {shown?.length === 0 && !hasMore && props.empty}
      {(shown === undefined ? error === undefined : shown.length > 0) && (
        <Table
          label={props.label}
          columns={props.columns}
          items={shown}
          keyOf={({ id }) => id}
          timeOf={props.timeOf}
          isReal={props.isReal}
          isGone={props.pages.isGone}
          isRanked={props.isRanked}
          onHold={(isHeld) => hold(isHeld || (keepsPosition && isBeingRead()))}
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
