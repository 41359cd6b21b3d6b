import { type KindWith, RESOURCES, type StatusTone } from "../../../contract/resources.ts";
import type { Styles } from "../../terminal/styles.ts";
import { relativeTime } from "../../terminal/time.ts";
import type { Column } from "../../terminal/view.ts";

/** Columns that several resources share. */

export const ID: Column<{ id: string }> = {
  label: "ID",
  text: ({ id }) => id,
  style: (text, styles) => styles.accent(text),
};

/** An age in a table on a terminal; a timestamp in a pipe. */
export const CREATED: Column<{ created: string }> = {
  label: "Created",
  text: ({ created }, { now, terminal }) => (terminal && !isAhead(created, now) ? relativeTime(created, now) : created),
  style: (text, styles) => styles.dim(text),
  optional: true,
};

export const CREATED_AT: Column<{ created: string }> = {
  label: "Created",
  text: ({ created }, { now, terminal }) =>
    terminal && !isAhead(created, now) ? `${created}  (${relativeTime(created, now)})` : created,
};

/** A test clock has moved the sandbox's time, so its age cannot be calculated here. */
function isAhead(created: string, now: number): boolean {
  return Date.parse(created) > now + 60_000;
}

export const ENVIRONMENT: Column<{ livemode: boolean }> = {
  label: "Environment",
  text: ({ livemode }) => (livemode ? "live" : "sandbox"),
  style: (text, styles) => (text === "live" ? styles.warn(text) : text),
};

export const METADATA: Column<{ metadata: Record<string, string> }> = {
  label: "Metadata",
  text: ({ metadata }, { terminal }) => {
    if (!terminal) return JSON.stringify(metadata);
    return Object.entries(metadata)
      .map(([key, value]) => `${key}=${value}`)
      .join(", ");
  },
};

/** An amount in major units on a terminal; the API's integer in a pipe. */
export const AMOUNT: Column<{ amount: number; currency: string }> = {
  label: "Amount",
  align: "right",
  text: ({ amount, currency }, { terminal }) => (terminal ? majorUnits(amount, currency) : String(amount)),
};

/** The status of a resource, highlighted as its table entry says. */
export function statusColumn<Kind extends KindWith<"statuses">>(kind: Kind): Column<{ status: string }> {
  const tones: Readonly<Record<string, StatusTone>> = RESOURCES[kind].statuses;
  return {
    label: "Status",
    text: ({ status }) => status,
    style: (text: string, styles: Styles, { status }) => {
      const { [status]: tone = "plain" } = tones;
      return tone === "plain" ? text : styles[tone](text);
    },
  };
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
