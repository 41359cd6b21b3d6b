import { useLayoutEffect, useRef } from "preact/hooks";
import { CallError } from "../api/call.ts";
import { Icon } from "./icon.tsx";

/** One key of metadata in a form. */
export interface MetadataRow {
  id: number;
  key: string;
  value: string;
}

let lastId = 0;

function newRow(key: string, value: string): MetadataRow {
  return { id: ++lastId, key, value };
}

export function metadataRows(metadata: Record<string, string>): readonly MetadataRow[] {
  return Object.entries(metadata).map(([key, value]) => newRow(key, value));
}

/** Returns the metadata of a form without its empty rows. Throws CallError if a key is used twice. */
export function metadataOf(rows: readonly MetadataRow[]): Record<string, string> {
  const given = rows.filter(({ key, value }) => key !== "" || value !== "");
  const twice = given.find(({ key }, index) => given.findIndex((other) => other.key === key) < index);
  if (twice !== undefined) {
    const detail = `The key ${twice.key} is used twice.`;
    throw new CallError(0, { detail, errors: [{ pointer: pointerTo(twice.key), code: "invalid_key", detail }] });
  }
  return Object.fromEntries(given.map(({ key, value }) => [key, value]));
}

/** Returns what changes metadata into that of a form: new and changed values, and null for removed keys. */
export function metadataPatch(
  opened: Record<string, string>,
  rows: readonly MetadataRow[],
): Record<string, string | null> {
  const metadata = metadataOf(rows);
  const removed = Object.keys(opened).filter((key) => !Object.hasOwn(metadata, key));
  const changed = Object.entries(metadata).filter(
    ([key, value]) => !Object.hasOwn(opened, key) || opened[key] !== value,
  );
  return Object.fromEntries([...removed.map((key) => [key, null] as const), ...changed]);
}

/** Returns the JSON Pointer (RFC 6901) of a key in a request. */
function pointerTo(key: string): string {
  return `/metadata/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

const MAX_LINES = 6;

/** Metadata as rows of a key and a value, which may hold any characters. */
export function MetadataField(props: {
  rows: readonly MetadataRow[];
  onRows: (rows: readonly MetadataRow[]) => void;
  error: CallError | undefined;
}) {
  const { rows, onRows, error } = props;
  const list = useRef<HTMLUListElement>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  const shown = useRef(rows.length);
  useLayoutEffect(() => {
    // The focus moves to the new row, and stays in the form when its row is removed.
    if (rows.length > shown.current) list.current?.querySelector<HTMLElement>("li:last-child input")?.focus();
    else if (rows.length < shown.current) addButton.current?.focus();
    shown.current = rows.length;
  }, [rows.length]);
  const problem = error?.fields.find(({ pointer }) => /^\/metadata(\/|$)/.test(pointer));
  const invalid = rows.findLast(({ key }) => problem?.pointer === pointerTo(key));
  const edit = (row: MetadataRow, change: Partial<MetadataRow>) =>
    onRows(rows.map((other) => (other === row ? { ...row, ...change } : other)));
  return (
    <fieldset class="metadata">
      <legend>Metadata</legend>
      {rows.length > 0 && (
        <p class="hint metadata-row" aria-hidden="true">
          <span>Key</span> <span>Value</span>
        </p>
      )}
      <ul ref={list}>
        {rows.map((row, index) => {
          const isOf = (isKey: boolean) => row === invalid && isKey === (problem?.code === "invalid_key");
          return (
            <li key={row.id} class="metadata-row">
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
        Add metadata
      </button>
    </fieldset>
  );
}
