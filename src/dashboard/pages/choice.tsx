import { environmentNow } from "../clock.ts";
import { Options } from "../components/form.tsx";
import { filter, route } from "../router.tsx";

/** Returns a filter of the page, which is stored in the URL. */
export function filterOf(name: string): string {
  return route.value.query.get(name) ?? "";
}

/** A filter with a few values; the empty one is all. */
export function Choice(props: {
  label: string;
  name: string;
  options: readonly (readonly [value: string, label: string])[];
}) {
  const value = filterOf(props.name);
  return (
    <label class={value === "" ? undefined : "set"}>
      {props.label}
      <select value={value} onChange={({ currentTarget }) => filter({ [props.name]: currentTarget.value })}>
        <Options of={props.options} />
      </select>
    </label>
  );
}

/** Ranges of charts by their value in the URL. */
const RANGES = {
  "1h": [60, "hour"],
  "6h": [360, "6 hours"],
  "24h": [1440, "24 hours"],
  "7d": [10_080, "7 days"],
} as const;
type Range = keyof typeof RANGES;
const NAMES = Object.keys(RANGES) as Range[];

/** Returns the shortest range that began before a time; the longest for earlier ones. */
export function rangeSince(time: number): Range {
  return NAMES.find((name) => time > environmentNow() - RANGES[name][0] * 60_000) ?? "7d";
}

/** Returns the chosen range of a page's figures and charts. */
export function rangeOf(preset: Range): { minutes: number; period: string } {
  const [minutes, words] = RANGES[filterOf("range") as Range] ?? RANGES[preset];
  return { minutes, period: `last ${words}` };
}

export function RangeChoice({ preset }: { preset: Range }) {
  return (
    <div class="filters open">
      <Choice
        label="Range"
        name="range"
        options={NAMES.map((name) => [name === preset ? "" : name, `Last ${RANGES[name][1]}`] as const)}
      />
    </div>
  );
}
