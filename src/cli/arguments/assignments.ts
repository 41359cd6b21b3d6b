import { UsageError } from "../errors.ts";

/** Keys that the API takes in no object. */
const REFUSED: ReadonlySet<string> = new Set(["__proto__", "prototype"]);

/**
 * The object with one more value at a dotted path: `metadata.plan`, `pro`. A value that is JSON counts as JSON (numbers,
 * true, null, quoted strings, objects), anything else is text.
 */
export function assign(
  object: Readonly<Record<string, unknown>>,
  path: string,
  value: string,
): Record<string, unknown> {
  return assignAt(object, path.split("."), jsonOrText(value), path);
}

function assignAt(
  object: Readonly<Record<string, unknown>>,
  names: readonly string[],
  value: unknown,
  path: string,
): Record<string, unknown> {
  const [name = "", ...rest] = names;
  if (name === "" || REFUSED.has(name)) throw new UsageError(`"${path}" is not a path such as metadata.plan`);
  if (rest.length === 0) return { ...object, [name]: value };
  const inner = (Object.hasOwn(object, name) ? object[name] : undefined) ?? {};
  if (typeof inner !== "object" || Array.isArray(inner)) {
    throw new UsageError(`"${path}": ${name} is a value already and has no members`);
  }
  return { ...object, [name]: assignAt(inner as Record<string, unknown>, rest, value, path) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
