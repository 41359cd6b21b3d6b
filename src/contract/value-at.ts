/** Returns the member at a dotted path: `metadata.plan`. */
export function valueAt(item: unknown, path: string): unknown {
  let value = item;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
