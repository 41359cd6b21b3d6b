import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { followRow, isBeingRead, SKELETON, useHold } from "./table.tsx";

/** Rows are added and removed in groups, so that most frames of a scroll render nothing. */
const STEP_ROWS = 8;

interface VirtualListProps<Item> {
  label: string;
  /** Undefined while they are loaded. */
  items: readonly Item[] | undefined;
  keyOf: (item: Item) => string;
  /** Height of a row in pixels, the same for all. */
  rowHeight: number;
  row: (item: Item) => ComponentChildren;
  headings: readonly string[];
  /** Called with the items in the DOM after each change. */
  onShown: (items: readonly Item[]) => void;
  /** Called when the end is near. */
  onNearEnd: () => void;
  /** Called when the page is scrolled, or the pointer or focus enters or leaves the list. */
  onHold: (isHeld: boolean) => void;
}

/** A long list that scrolls with the page. Only its visible rows are in the DOM. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { items = [], rowHeight, keyOf, onNearEnd, onHold } = props;
  const box = useRef<HTMLDivElement>(null);
  const isHeld = useRef(false);
  const [view, setView] = useState({ first: 0, rows: 30 });
  const measure = () => {
    const element = box.current;
    if (element === null) return;
    const { top, bottom } = element.getBoundingClientRect();
    const step = Math.floor(Math.max(0, -top) / rowHeight / STEP_ROWS);
    const first = Math.max(0, (step - 1) * STEP_ROWS);
    const rows = Math.ceil(innerHeight / rowHeight) + 3 * STEP_ROWS;
    setView((before) => (before.first === first && before.rows === rows ? before : { first, rows }));
    if (bottom < 3 * innerHeight) onNearEnd();
  };
  const report = () => onHold(isHeld.current || isBeingRead());
  const hold = useHold((isNow) => {
    isHeld.current = isNow;
    report();
  });
  useLayoutEffect(measure, [items.length]);
  useLayoutEffect(() => {
    const onScroll = () => {
      measure();
      report();
    };
    addEventListener("resize", measure);
    addEventListener("scroll", onScroll);
    return () => {
      removeEventListener("resize", measure);
      removeEventListener("scroll", onScroll);
    };
  });
  const shown = items.slice(view.first, view.first + view.rows);
  useEffect(() => props.onShown(shown), [items, view]);
  return (
    <div class="virtual" role="table" aria-label={props.label} aria-rowcount={items.length + 1}>
      <div class="virtual-head" role="rowgroup">
        <div role="row" aria-rowindex={1} class="virtual-row">
          {props.headings.map((heading) => (
            <span key={heading} role="columnheader">
              {heading}
            </span>
          ))}
        </div>
      </div>
      <div class="virtual-body" role="rowgroup" ref={box} {...hold} onClick={followRow}>
        {props.items === undefined &&
          SKELETON.map((row) => (
            <div key={row} class="virtual-row skeleton" aria-hidden="true" style={{ height: `${rowHeight}px` }}>
              {props.headings.map((heading) => (
                <div key={heading}>
                  <span />
                </div>
              ))}
            </div>
          ))}
        <div class="virtual-space" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
          <div role="presentation" style={{ transform: `translateY(${view.first * rowHeight}px)` }}>
            {shown.map((item, index) => (
              <div
                key={keyOf(item)}
                role="row"
                class="virtual-row"
                data-row
                aria-rowindex={view.first + index + 2}
                style={{ height: `${rowHeight}px` }}
              >
                {props.row(item)}
              </div>
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}
