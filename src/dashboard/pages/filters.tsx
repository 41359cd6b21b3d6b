import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { environmentNow } from "../clock.ts";
import { filter, go, route } from "../router.tsx";
import { hrefOfId } from "../components/values.tsx";

/** Returns a filter of the page, which is stored in the URL. */
export function filterOf(name: string): string {
  return route.value.query.get(name) ?? "";
}

export function Filters({ children }: { children: ComponentChildren }) {
  return (
    <div class="filters" role="search">
      {children}
    </div>
  );
}

/** A filter with a few values; the empty one is all. */
export function Choice(props: {
  label: string;
  name: string;
  options: readonly (readonly [value: string, label: string])[];
}) {
  return (
    <label>
      {props.label}
      <select
        value={filterOf(props.name)}
        onChange={({ currentTarget }) => filter({ [props.name]: currentTarget.value })}
      >
        {props.options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

export function StatusChoice({ statuses }: { statuses: readonly string[] }) {
  return (
    <Choice
      label="Status"
      name="status"
      options={[["", "All"], ...statuses.map((status) => [status, sentence(status)] as const)]}
    />
  );
}

function sentence(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const TYPING_MILLISECONDS = 250;

/** A search, stored in the URL. A full ID opens its object, unless the list takes it as a filter. */
export function Search(props: {
  hint: string;
  name?: string;
  label?: string;
  /** Returns why the text cannot be searched for. */
  problemOf?: (text: string) => string | undefined;
  /** Returns true for IDs that the list can be filtered by. */
  takes?: (id: string) => boolean;
}) {
  const { name = "query", label = "Search" } = props;
  const current = filterOf(name);
  const [text, setText] = useState(current);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  // A link to the unfiltered list leaves this field as it is.
  useEffect(() => setText((before) => (before.trim() === current ? before : current)), [current]);
  const problem = props.problemOf?.(text.trim());
  return (
    <label class={name === "query" ? "grow" : undefined}>
      {label}
      <input
        type="search"
        value={text}
        maxLength={LIMITS.searchLength}
        placeholder={props.hint}
        aria-invalid={problem !== undefined}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          clearTimeout(timer.current);
          const trimmed = value.trim();
          const href = hrefOfId(trimmed);
          if (href !== undefined && props.takes?.(trimmed) !== true) return go(href);
          if (props.problemOf?.(trimmed) !== undefined) return;
          // The page that the search is for may have been left meanwhile.
          timer.current = setTimeout(() => filter({ [name]: trimmed }), TYPING_MILLISECONDS);
        }}
      />
      {problem !== undefined && <span class="field-error">{problem}</span>}
    </label>
  );
}

const PERIODS = [
  ["3600", "Last hour"],
  ["86400", "Last 24 hours"],
  ["604800", "Last 7 days"],
] as const;

/** Filters of the creation time, as the API takes them; empty ones are omitted. */
export function createdFilters(): { created_after: string; created_before: string } {
  return { created_after: filterOf("created_after"), created_before: filterOf("created_before") };
}

/** A range of creation times. A period becomes a time, so that the URL names the same items later. */
export function CreatedRange({ isReal = false }: { isReal?: boolean }) {
  const { created_after: after, created_before: before } = createdFilters();
  const isSet = after !== "" || before !== "";
  return (
    <>
      <label>
        Created
        <select
          value={isSet ? "range" : ""}
          onChange={({ currentTarget: { value } }) => {
            const now = isReal ? Date.now() : environmentNow();
            if (value === "") filter({ created_after: "", created_before: "" });
            else filter({ created_after: formatTimestamp(now - Number(value) * 1000), created_before: "" });
          }}
        >
          <option value="">Any time</option>
          {PERIODS.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
          {isSet && <option value="range">From … to …</option>}
        </select>
      </label>
      {isSet && <Limit label="From" name="created_after" value={after} />}
      {isSet && <Limit label="To" name="created_before" value={before} />}
    </>
  );
}

function Limit({ label, name, value }: { label: string; name: string; value: string }) {
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        step={1}
        value={localInput(value)}
        onChange={({ currentTarget: { value: local } }) =>
          filter({ [name]: local === "" ? "" : formatTimestamp(new Date(local).getTime()) })
        }
      />
    </label>
  );
}

/** Returns a timestamp as a field for a local time has it. */
function localInput(timestamp: string): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
