import { useLayoutEffect, useRef } from "preact/hooks";
import { lowerFirst } from "../../contract/resources.ts";
import { CallError } from "../api/call.ts";
import { isOf } from "./form.tsx";
import { Icon } from "./icon.tsx";

/** One key of a map in a form. */
export interface MapRow {
  id: number;
  key: string;
  value: string;
}

let lastId = 0;

function newRow(key: string, value: string): MapRow {
  return { id: ++lastId, key, value };
}

export function mapRows(map: Record<string, string>): readonly MapRow[] {
  return Object.entries(map).map(([key, value]) => newRow(key, value));
}

/** Returns the map of a form without its empty rows. Throws CallError if a key is used twice. */
function mapOf(name: string, rows: readonly MapRow[]): Record<string, string> {
  const given = rows.filter(({ key, value }) => key !== "" || value !== "");
  const twice = given.find(({ key }, index) => given.findIndex((other) => other.key === key) < index);
  if (twice !== undefined) {
    const detail = `The key ${twice.key} is used twice.`;
    throw new CallError(0, { detail, errors: [{ pointer: pointerTo(name, twice.key), code: "invalid_key", detail }] });
  }
  return Object.fromEntries(given.map(({ key, value }) => [key, value]));
}

/** Returns what changes a map into that of a form: new and changed values, and null for removed keys. */
export function mapPatch(
  name: string,
  opened: Record<string, string>,
  rows: readonly MapRow[],
): Record<string, string | null> {
  const map = mapOf(name, rows);
  const removed = Object.keys(opened).filter((key) => !Object.hasOwn(map, key));
  const changed = Object.entries(map).filter(([key, value]) => !Object.hasOwn(opened, key) || opened[key] !== value);
  return Object.fromEntries([...removed.map((key) => [key, null] as const), ...changed]);
}

/** Returns the JSON Pointer (RFC 6901) of a key of a map in a request. */
function pointerTo(name: string, key: string): string {
  return `/${name}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

const MAX_LINES = 6;

/** A map as rows of a key and a value, which may hold any characters. */
export function MapField(props: {
  name: string;
  label: string;
  rows: readonly MapRow[];
  onRows: (rows: readonly MapRow[]) => void;
  error: CallError | undefined;
}) {
  const { name, label, rows, onRows, error } = props;
  const list = useRef<HTMLUListElement>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  const shown = useRef(rows.length);
  useLayoutEffect(() => {
    // The focus moves to the new row, and stays in the form when its row is removed.
    if (rows.length > shown.current) list.current?.querySelector<HTMLElement>("li:last-child input")?.focus();
    else if (rows.length < shown.current) addButton.current?.focus();
    shown.current = rows.length;
  }, [rows.length]);
  const problem = error?.fields.find(({ pointer }) => isOf(pointer, name));
  const invalid = rows.findLast(({ key }) => problem?.pointer === pointerTo(name, key));
  const edit = (row: MapRow, change: Partial<MapRow>) =>
    onRows(rows.map((other) => (other === row ? { ...row, ...change } : other)));
  return (
    <fieldset class="pairs" data-field={name}>
      <legend>{label}</legend>
      {rows.length > 0 && (
        <p class="hint pairs-row" aria-hidden="true">
          <span>Key</span> <span>Value</span>
        </p>
      )}
      <ul ref={list}>
        {rows.map((row, index) => {
          const isOf = (isKey: boolean) => row === invalid && isKey === (problem?.code === "invalid_key");
          return (
            <li key={row.id} class="pairs-row">
              <input
                type="text"
                aria-label={`Key ${index + 1}`}
                aria-invalid={isOf(true)}
                autoComplete="off"
                spellcheck={false}
                value={row.key}
                onInput={({ currentTarget }) => edit(row, { key: currentTarget.value })}
              />
              <textarea
                rows={Math.min(row.value.split("\n").length, MAX_LINES)}
                aria-label={`Value of ${row.key === "" ? `key ${index + 1}` : row.key}`}
                aria-invalid={isOf(false)}
                spellcheck={false}
                value={row.value}
                onInput={({ currentTarget }) => edit(row, { value: currentTarget.value })}
              />
              <button
                type="button"
                class="bare"
                aria-label={`Remove ${row.key === "" ? `key ${index + 1}` : row.key}`}
                onClick={() => onRows(rows.filter((other) => other !== row))}
              >
                <Icon name="remove" />
              </button>
            </li>
          );
        })}
      </ul>
      {problem !== undefined && <p class="field-error">{problem.detail}</p>}
      <button ref={addButton} type="button" class="small" onClick={() => onRows([...rows, newRow("", "")])}>
        Add {lowerFirst(label)}
      </button>
    </fieldset>
  );
}
