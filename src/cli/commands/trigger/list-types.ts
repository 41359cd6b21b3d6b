import { EVENT_TYPES, type EventType } from "../../../contract/event-types.ts";
import type { Context } from "../../context.ts";
import type { ResourceView } from "../../terminal/view.ts";
import { RECIPES } from "./recipes.ts";

interface TypeEntry {
  type: EventType;
  calls: string[];
  overrides: string[];
}

const TYPES: ResourceView<TypeEntry> = {
  noun: "event type",
  plural: "event types",
  fields: ["type", "calls", "overrides"],
  columns: [
    { label: "Type", text: ({ type }) => type, style: (text, styles) => styles.strong(text) },
    { label: "Calls", text: ({ calls }) => calls.join(", "), shrinks: true, wraps: true },
    { label: "Overrides", text: ({ overrides }) => overrides.join(", "), shrinks: true, wraps: true, optional: true },
  ],
  details: [],
};

/** `service trigger --list`. */
export async function listTypes(context: Context): Promise<void> {
  const entries = EVENT_TYPES.map((type) => ({
    type,
    calls: RECIPES[type].map((step) => `${step.method} ${step.path("ID")}`),
    overrides: [...new Set(RECIPES[type].flatMap((step) => step.takes))],
  }));
  await context.output.list(entries, TYPES);
}
