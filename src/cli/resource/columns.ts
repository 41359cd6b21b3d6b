import { isRecord } from "../../contract/json.ts";
import { type Field, type KindWith, RESOURCES, type StatusTone } from "../../contract/resources.ts";
import type { Styles } from "../terminal/styles.ts";
import { relativeTime } from "../terminal/time.ts";
import type { Column, ViewContext } from "../terminal/view.ts";

/** Columns that several resources share. */

export const ID: Column<{ id: string }> = { label: "ID", text: ({ id }) => id, style: "accent" };

/** Returns when something happened: its age in a table on a terminal; a timestamp in a pipe. */
export function ageOf(timestamp: string, { now, terminal }: ViewContext): string {
  return terminal && !isAhead(timestamp, now) ? relativeTime(timestamp, now, { isShort: true }) : timestamp;
}

/** Returns when something happened, with its age on a terminal. */
export function timeWithAge(timestamp: string, { now, terminal }: ViewContext): string {
  return terminal && !isAhead(timestamp, now) ? `${timestamp}  (${relativeTime(timestamp, now)})` : timestamp;
}

/** Keys and endpoints created while the test clock was ahead keep that time after a reset: until then they have no age. */
function isAhead(timestamp: string, now: number): boolean {
  return Date.parse(timestamp) > now + 60_000;
}

export const CREATED: Column<{ created: string }> = {
  label: "Created",
  text: ({ created }, view) => ageOf(created, view),
  style: "dim",
  optional: true,
};

export const CREATED_AT: Column<{ created: string }> = {
  label: "Created",
  text: ({ created }, view) => timeWithAge(created, view),
};

/** A damaged event has no environment. */
export const ENVIRONMENT: Column<object> = {
  label: "Environment",
  text: (item) => ("livemode" in item ? (item.livemode ? "live" : "sandbox") : ""),
  styleOf: (text) => (text === "live" ? "warn" : undefined),
};

/** The status of a resource, highlighted as its table entry says. */
export function statusColumn(kind: KindWith<"statuses">): Column<{ status: string }> {
  return { label: "Status", text: ({ status }) => status, styleOf: (_text, { status }) => toneOf(kind, status) };
}

/** Returns the style of a status of a resource; undefined for a plain one. */
export function toneOf(kind: KindWith<"statuses">, status: string): keyof Styles | undefined {
  const { [status]: tone = "plain" }: Readonly<Record<string, StatusTone>> = RESOURCES[kind].statuses;
  return tone === "plain" ? undefined : tone;
}

function majorUnits(amount: number, currency: string): string {
  try {
    const format = new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay: "code" });
    const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
    return (amount / 10 ** digits).toFixed(digits);
  } catch {
    return String(amount);
  }
}

/**
 * Returns a column for each field of a resource, in the table's order. `own` has those that are shown in another way
 * than by their value.
 */
export function fieldColumns<Item extends object>(
  kind: KindWith<"fields">,
  own: Readonly<Record<string, Column<Item>>> = {},
): Record<string, Column<Item>> {
  return Object.fromEntries(
    Object.entries<Field>(RESOURCES[kind].fields).map(([name, field]) => [
      name,
      own[name] ?? columnOf(kind, name, field),
    ]),
  );
}

function columnOf<Item extends object>(kind: KindWith<"fields">, name: string, field: Field): Column<Item> {
  const { type, label, secret } = field;
  if (type === "status") return statusColumn(kind as KindWith<"statuses">) as unknown as Column<Item>;
  const text = (item: Item, { terminal }: ViewContext) => {
    const { [secret ?? name]: value, currency } = item as Readonly<Record<string, unknown>>;
    // In major units, and a map as pairs, on a terminal; as the API has them in a pipe.
    if (type === "amount") return terminal ? majorUnits(Number(value), String(currency)) : String(value);
    if (Array.isArray(value)) return value.join(secret === undefined ? " " : ", ");
    if (!isRecord(value)) return String((value as string | boolean | null | undefined) ?? "");
    const pairs = Object.entries(value).map((pair) => pair.join("="));
    return terminal ? pairs.join(", ") : JSON.stringify(value);
  };
  const isText = type === "text" || type === "email";
  return { label, text, ...(isText && { shrinks: true }), ...(type === "amount" && { align: "right" }) };
}
