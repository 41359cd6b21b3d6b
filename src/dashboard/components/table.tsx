import type { ComponentChildren } from "preact";
import type { Pages } from "../api/use-query.ts";
import { ErrorBox, Loading } from "./states.tsx";

export interface Column<Item> {
  label: string;
  cell: (item: Item) => ComponentChildren;
  /** Whether a row has something to show here; a column that no row needs is left out. */
  isFor?: (item: Item) => boolean;
  /** The narrowest screen that shows it, where not all do. */
  from?: "tablet" | "desktop";
  isNumber?: boolean;
}

/** Rows with a heading each column; the first cell holds the link to the row's own page. */
export function Table<Item>(props: {
  label: string;
  columns: readonly Column<Item>[];
  items: readonly Item[];
  keyOf: (item: Item) => string;
}) {
  const columns = props.columns.filter(({ isFor }) => isFor === undefined || props.items.some(isFor));
  const classOf = ({ from, isNumber }: Column<Item>) =>
    [from === undefined ? "" : `from-${from}`, isNumber === true ? "number" : ""].join(" ").trim() || undefined;
  return (
    <div class="table" role="region" aria-label={props.label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} scope="col" class={classOf(column)}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.items.map((item) => (
            <tr key={props.keyOf(item)}>
              {columns.map((column) => (
                <td key={column.label} class={classOf(column)}>
                  {column.isFor?.(item) !== false && column.cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A list as far as it was read, with a way to read on. */
export function PagedTable<Item extends { id: string }>(props: {
  label: string;
  columns: readonly Column<Item>[];
  pages: Pages<Item>;
  /** Shown where the list holds nothing. */
  empty: ComponentChildren;
  /** Narrows what is shown of the rows that were read. */
  fits?: (item: Item) => boolean;
}) {
  const { items, error, hasMore, isLoading, loadMore, reload } = props.pages;
  const shown = props.fits === undefined ? items : items?.filter(props.fits);
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {shown === undefined && error === undefined && <Loading />}
      {shown?.length === 0 && props.empty}
      {shown !== undefined && shown.length > 0 && (
        <Table label={props.label} columns={props.columns} items={shown} keyOf={({ id }) => id} />
      )}
      {hasMore && (
        <p class="more">
          <button type="button" disabled={isLoading} onClick={loadMore}>
            {isLoading ? "Loading…" : "Load more"}
          </button>
        </p>
      )}
    </>
  );
}
