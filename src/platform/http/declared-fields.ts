import type { TSchema } from "typebox";

/** Returns a value without the fields that its schema does not declare; the same value if there are none. */
type Selection = <Value>(value: Value) => Value;

/** The keywords of JSON Schema that hold other schemas. */
export interface Keywords {
  properties?: Readonly<Record<string, TSchema>>;
  items?: TSchema;
  anyOf?: readonly TSchema[];
}

const selections = new WeakMap<TSchema, Selection>();
const everything: Selection = (value) => value;

/**
 * Returns the selection of a response's schema, so that a field is only sent if it is declared. Compiled once for a
 * schema. An object whose schema declares no fields, such as metadata, is kept whole.
 */
export function declaredFields(schema: TSchema): Selection {
  let selection = selections.get(schema);
  if (selection === undefined) selections.set(schema, (selection = compile(schema)));
  return selection;
}

function compile(schema: TSchema): Selection {
  const { properties, items, anyOf } = schema as Keywords;
  if (properties !== undefined) return ofObject(properties);
  if (items !== undefined) return ofArray(declaredFields(items));
  if (anyOf === undefined) return everything;
  const branches = anyOf.map(declaredFields).filter((branch) => branch !== everything);
  if (branches.length > 1) throw new Error("A response's schema has several kinds of objects in one place.");
  return branches[0] ?? everything;
}

function ofObject(properties: Readonly<Record<string, TSchema>>): Selection {
  const known: ReadonlySet<string> = new Set(Object.keys(properties));
  const nested = Object.entries(properties).flatMap(([name, schema]) => {
    const selection = declaredFields(schema);
    return selection === everything ? [] : [[name, selection] as const];
  });
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    const given = value as Record<string, unknown>;
    let selected = given;
    for (const name in given) {
      if (!known.has(name)) {
        selected = Object.fromEntries(Object.entries(given).filter(([key]) => known.has(key)));
        break;
      }
    }
    for (const [name, selection] of nested) {
      const part = selected[name];
      const declared = selection(part);
      if (declared === part) continue;
      if (selected === given) selected = { ...given };
      selected[name] = declared;
    }
    return selected as typeof value;
  };
}

function ofArray(selection: Selection): Selection {
  if (selection === everything) return everything;
  return (value) => {
    if (!Array.isArray(value)) return value;
    const items = value.map((item: unknown) => selection(item));
    return items.every((item, index) => item === value[index]) ? value : (items as typeof value);
  };
}
