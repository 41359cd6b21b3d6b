import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import { inProject, shellCommand } from "../../contract/shell-command.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { environmentNow } from "../clock.ts";
import { Options } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { Copy, hrefOfId } from "../components/values.tsx";
import { localIso } from "../format.ts";
import { environment, filter, go, route } from "../router.tsx";
import { filterOf } from "./choice.tsx";

/** A word with a colon that names no filter, or whose value its filter does not know, and why. */
interface TermProblem {
  isFilter: boolean;
  why: string;
}

/** Returns what is wrong with the filters in a text. A word counts once it has ended; a URL is text. */
function problemsIn(text: string, terms: Terms): TermProblem[] {
  const names = Object.keys(terms);
  const found = names.length === 0 ? [] : text.matchAll(/(?<=^|\s)([a-z_]+):(?!\/\/)(\S+)(?=\s)/gi);
  return [...found].map(([, word = "", value = ""]) => {
    if (!names.includes(word.toLowerCase())) {
      return { isFilter: false, why: `There is no filter “${word}”. Try ${names.join(", ")}.` };
    }
    const examples = word in TIME_TERMS ? ` Try ${word}:14:00 or ${word}:2h.` : "";
    return { isFilter: true, why: `There is no ${word} “${value}”.${examples}` };
  });
}

/** Returns the filters of a list, by name; empty ones are not set. All lists have those of the creation time. */
export function listFilters<Name extends string>(...names: readonly Name[]) {
  const all = [...names, "created_after", "created_before"] as const;
  const filters = Object.fromEntries(all.map((name) => [name, filterOf(name)]));
  return {
    filters: filters as Record<(typeof all)[number], string>,
    isFiltered: Object.values(filters).some((value) => value !== ""),
  };
}

/** Words that a search takes as filters, such as `status:failed`. Each returns the filters of the URL, if it knows the text. */
export type Terms = Readonly<Record<string, (text: string) => Record<string, string> | undefined>>;

/** Returns a term whose text is one of some values, or the beginning of what they are called. */
export function oneOf(name: string, options: readonly (readonly [value: string, label: string])[]): Terms[string] {
  return (text) => {
    const wanted = text.toLowerCase();
    const found =
      options.find(([value]) => value.toLowerCase() === wanted) ??
      options.find(([value, label]) => value !== "" && label.toLowerCase().includes(wanted));
    return found === undefined || found[0] === "" ? undefined : { [name]: found[0] };
  };
}

/** `since:14:00`, `since:2h` and `since:2026-01-31`, and the same with `until`, as of a time in Unix milliseconds. */
export const timeTerms = (now: () => number) =>
  ({
    since: (text) => timestampOf(text, "created_after", now()),
    until: (text) => timestampOf(text, "created_before", now()),
  }) satisfies Terms;
export const TIME_TERMS = timeTerms(environmentNow);

const AGES = { s: 1, m: 60, min: 60, h: 3600, d: 86_400 } as const;

function timestampOf(text: string, name: string, now: number): Record<string, string> | undefined {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  const [, amount, unit] = /^(\d+)(s|m|min|h|d)$/.exec(text) ?? [];
  let at = Date.parse(text);
  if (hour !== undefined) {
    at = new Date(now).setHours(Number(hour), Number(minute), 0, 0);
    if (at > now) at -= AGES.d * 1000;
  } else if (amount !== undefined) at = now - Number(amount) * AGES[unit as keyof typeof AGES] * 1000;
  return Number.isNaN(at) ? undefined : { [name]: formatTimestamp(at) };
}

/** Returns the filters that a text names, and the text without them. A word counts once it has ended. */
export function readTerms(text: string, terms: Terms): { rest: string; filters: Record<string, string> } {
  const filters: Record<string, string> = {};
  const rest = text.replaceAll(/(\w+):("[^"]*"|\S+)\s/g, (term: string, word: string, value: string) => {
    const found = terms[word.toLowerCase()]?.(value.replaceAll('"', ""));
    Object.assign(filters, found);
    return found === undefined ? term : "";
  });
  return { rest, filters };
}

/** One bar: a search, which takes filters as words too, and a chip for each filter. */
export function Filters({ children }: { children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  const set = setFilters();
  return (
    <div class={isOpen ? "filters open" : "filters"} role="search">
      {children}
      <button type="button" class="filters-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{set.length > 0 && ` (${set.length})`}
      </button>
      {set.length > 0 && <ClearFilters class="bare clear">Clear</ClearFilters>}
    </div>
  );
}

/** Returns the names of the filters that are set. */
function setFilters(): string[] {
  return [...route.value.query.keys()].filter((name) => !["peek", "range", "create"].includes(name));
}

/** A button that shows the whole list again. */
export function ClearFilters({ class: name, children = "Clear filters" }: { class?: string; children?: string }) {
  return (
    <button type="button" class={name} onClick={() => filter(Object.fromEntries(setFilters().map((one) => [one, ""])))}>
      {children}
    </button>
  );
}

/** A filter that a link sets, and that can only be removed. */
export function Chip({ label, name, children }: { label: string; name: string; children: ComponentChildren }) {
  return (
    <span class="chip">
      <span>{label}</span>
      {children}
      <button type="button" class="bare" aria-label="Remove this filter" onClick={() => filter({ [name]: "" })}>
        <Icon name="remove" />
      </button>
    </span>
  );
}

const TYPING_MILLISECONDS = 250;

export interface SearchProps {
  hint: string;
  terms?: Terms;
  name?: string;
  label?: string;
  /** Returns why the text cannot be searched for. */
  problemOf?: (text: string) => string | undefined;
  /** Returns true for IDs that the list can be filtered by. */
  takes?: (id: string) => boolean;
}

/** A search, stored in the URL. A full ID opens its object, unless the list takes it as a filter. */
export function Search(props: SearchProps) {
  const { name = "query", label = "Search", terms = {} } = props;
  const current = filterOf(name);
  const [text, setText] = useState(current);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  // A link to the unfiltered list leaves this field as it is.
  useEffect(() => setText((before) => (before.trim() === current ? before : current)), [current]);
  const problem =
    props.problemOf?.(text.trim()) ??
    (problemsIn(text, terms)
      .map(({ why }) => why)
      .join(" ") ||
      undefined);
  const take = (value: string) => {
    clearTimeout(timer.current);
    const { rest, filters } = readTerms(value, terms);
    setText(rest);
    const trimmed = rest.trim();
    const href = hrefOfId(trimmed);
    if (href !== undefined && props.takes?.(trimmed) !== true) return go(href);
    if (props.problemOf?.(trimmed) !== undefined) return;
    const problems = problemsIn(rest, terms);
    if (problems.some(({ isFilter }) => isFilter)) return;
    const search = () => filter({ ...filters, [name]: trimmed });
    if (rest !== value || problems.length > 0) return search();
    // The page that the search is for may have been left meanwhile.
    timer.current = setTimeout(search, TYPING_MILLISECONDS);
  };
  const isMain = name === "query";
  return (
    <label class={isMain ? "grow" : current === "" ? undefined : "set"}>
      <span class={isMain ? "sr-only" : undefined}>{label}</span>
      <input
        type="search"
        value={text}
        maxLength={LIMITS.searchLength}
        placeholder={props.hint}
        aria-invalid={problem !== undefined}
        size={isMain ? undefined : 9}
        onInput={({ currentTarget: { value } }) => take(value)}
        onKeyDown={({ key, currentTarget: { value } }) => {
          if (key === "Enter") take(`${value} `);
        }}
      />
      {problem !== undefined && <span class="field-error">{problem}</span>}
    </label>
  );
}

const PERIODS = [
  ["", "Any time"],
  ["3600", "Last hour"],
  ["86400", "Last 24 hours"],
  ["604800", "Last 7 days"],
  ["range", "Between"],
] as const;

/** A range of creation times. A period becomes a time, so that the URL names the same items later. */
export function CreatedRange({ isReal = false }: { isReal?: boolean }) {
  const [after, before] = [filterOf("created_after"), filterOf("created_before")];
  const isSet = after !== "" || before !== "";
  const now = isReal ? Date.now() : environmentNow();
  return (
    <>
      <label class={isSet ? "set" : undefined}>
        Created
        <select
          value={isSet ? "range" : ""}
          onChange={({ currentTarget: { value } }) => {
            if (value === "") filter({ created_after: "", created_before: "" });
            else {
              const start = value === "range" ? new Date(now).setHours(0, 0, 0, 0) : now - Number(value) * 1000;
              filter({ created_after: formatTimestamp(start), created_before: "" });
            }
          }}
        >
          <Options of={PERIODS} />
        </select>
      </label>
      {isSet && <Limit label="From" name="created_after" value={after} now={now} />}
      {isSet && <Limit label="To" name="created_before" value={before} now={now} />}
    </>
  );
}

function Limit({ label, name, value, now }: { label: string; name: string; value: string; now: number }) {
  const [isWrong, setWrong] = useState(false);
  return (
    <label class={value === "" ? undefined : "set"}>
      {label}
      <input
        type="text"
        key={value}
        class="moment"
        placeholder="14:00 or 2h"
        defaultValue={localInput(value)}
        aria-invalid={isWrong}
        onChange={({ currentTarget: { value: text } }) => {
          const found = text.trim() === "" ? { [name]: "" } : timestampOf(text.trim(), name, now);
          setWrong(found === undefined);
          if (found !== undefined) filter(found);
        }}
      />
    </label>
  );
}

/** Returns a timestamp in local time, with 24 hours in every language. */
function localInput(timestamp: string): string {
  return timestamp === "" ? "" : localIso(timestamp).replace("T", " ").replace(/:00$/, "");
}

/** Copies the command that lists what the page shows. */
export function CopyCommand({ of, filters }: { of: string; filters: Readonly<Record<string, string>> }) {
  const flags = Object.entries(filters).flatMap(([name, value]) =>
    value === "" ? [] : [`--${name.replace("_", "-")}`, value],
  );
  const live = environment.value === "live" ? ["--live"] : [];
  return (
    <Copy
      text={inProject(shellCommand`service ${of} list ${[...flags, ...live]}`.trim())}
      what="the list"
      label="Copy as command"
    />
  );
}
