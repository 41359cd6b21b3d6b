import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
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
  const { name = "q", label = "Search" } = props;
  const asked = filterOf(name);
  const [text, setText] = useState(asked);
  // A link to the unfiltered list leaves this field as it is.
  useEffect(() => setText((before) => (before.trim() === asked ? before : asked)), [asked]);
  const problem = props.problemOf?.(text.trim());
  return (
    <label class={name === "q" ? "grow" : undefined}>
      {label}
      <input
        type="search"
        value={text}
        placeholder={props.hint}
        aria-invalid={problem !== undefined}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          const trimmed = value.trim();
          const href = hrefOfId(trimmed);
          if (href !== undefined && props.takes?.(trimmed) !== true) go(href);
          else if (props.problemOf?.(trimmed) === undefined) filter({ [name]: trimmed });
        }}
      />
      {problem !== undefined && <span class="field-error">{problem}</span>}
    </label>
  );
}
