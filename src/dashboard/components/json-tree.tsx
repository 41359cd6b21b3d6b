/** A JSON value as a tree that opens and closes; every text is shown as text. */
export function JsonTree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const label = name !== undefined && <span class="json-name">{name}</span>;
  if (typeof value !== "object" || value === null) {
    return (
      <div class="json-leaf">
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const entries = Array.isArray(value) ? value.map((item, index) => [String(index), item]) : Object.entries(value);
  if (entries.length === 0) {
    return (
      <div class="json-leaf">
        {label}
        <span class="soft">{Array.isArray(value) ? "[ ]" : "{ }"}</span>
      </div>
    );
  }
  return (
    <details class="json" open={depth < 3}>
      <summary>
        {label}
        <span class="soft">{counted(entries.length, Array.isArray(value) ? "item" : "field")}</span>
      </summary>
      <div class="json-children">
        {entries.map(([key, item]) => (
          <JsonTree key={key as string} name={key as string} value={item} depth={depth + 1} />
        ))}
      </div>
    </details>
  );
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function Leaf({ value }: { value: unknown }) {
  return <span class={`json-${value === null ? "null" : typeof value}`}>{JSON.stringify(value)}</span>;
}
