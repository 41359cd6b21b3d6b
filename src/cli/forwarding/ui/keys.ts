import type { Key } from "../../terminal/keys.ts";
import { graphemes } from "../../terminal/spans.ts";
import { layoutOf } from "./layout.ts";
import type { Model } from "./model.ts";

/** Number of rows or lines that these keys move by; `page` is the height of a page. */
const STEPS: Readonly<Record<string, (page: number) => number>> = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  "page up": (page) => -page,
  "page down": (page) => page,
  " ": (page) => page,
  home: () => -Infinity,
  g: () => -Infinity,
  end: () => Infinity,
  G: () => Infinity,
};
const EVENT_STEPS: Readonly<Record<string, -1 | 1>> = { left: -1, h: -1, right: 1, l: 1 };

/** Handles the keys for navigation. Returns false for any other key. */
export function move(model: Model, key: string): boolean {
  const { view } = model;
  const lines = STEPS[key]?.(Math.max(layoutOf(model.size, view).pane.height - 1, 1));
  const events = EVENT_STEPS[key];
  if (lines !== undefined) {
    if (view === "list") model.move(lines);
    else model.scrollBy(lines);
  } else if (events !== undefined) {
    if (view === "details") model.move(events);
  } else if (key === "enter") {
    if (view === "list") model.show("details");
  } else if (key === "?") {
    model.show(view === "help" ? "list" : "help");
  } else if (key === "escape") {
    model.back();
  } else if (key === "/") {
    model.beginFilter();
  } else if (key === "c") {
    model.clear();
  } else return false;
  return true;
}

/** Edits the filter. Changes apply immediately. */
export function typeFilter(model: Model, { name, text }: Key): void {
  if (name === "enter") return model.endFilter(true);
  if (name === "escape" || (name === "backspace" && model.filter === "")) return model.endFilter(false);
  if (name === "ctrl-u") return model.setFilter("");
  if (name === "backspace") return model.setFilter(Array.from(graphemes(model.filter)).slice(0, -1).join(""));
  // Pasted text may have several lines.
  if (text !== undefined) model.setFilter((model.filter + text.replaceAll(/\s+/g, " ")).slice(0, MAX_FILTER_LENGTH));
}

const MAX_FILTER_LENGTH = 200;
