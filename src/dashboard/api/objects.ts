import { useEffect, useRef } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import { kindOfId } from "../../contract/ids.ts";
import { type Field, OBJECT_KINDS, type ObjectKind, pathOf, resourceOf } from "../../contract/resources.ts";
import { environment } from "../router.tsx";
import { useCall, withQuery } from "./call.ts";
import { follow } from "./live.ts";
import { dropOldest, useRedraw } from "./store.ts";

/** An API object of a resource that is described by its fields in the table of resources. */
export interface Item extends Record<string, unknown> {
  id: string;
  created: string;
}

/** An object by its ID: undefined until it is read, null if it does not exist. */
export type FindObject = (id: string) => Item | null | undefined;

/** Maximum number of objects that are kept, so that Back shows them at once. */
const MAX_OBJECTS = 5000;

const objects = new Map<string, Item | null>();
environment.subscribe(() => objects.clear());

function keep(id: string, object: Item | null): void {
  objects.delete(id);
  objects.set(id, object);
  dropOldest(objects, MAX_OBJECTS);
}

/** Returns the field that refers to an object with a page, and the kind of that object. */
export function referenceOf(kind: ObjectKind | undefined): { name: string; field: Field; of: ObjectKind } | undefined {
  const fields = kind === undefined ? {} : (resourceOf(kind).fields ?? {});
  for (const [name, field] of Object.entries<Field>(fields)) {
    const of = OBJECT_KINDS.find((known) => known === field.of);
    if (of !== undefined && field.type === "id") return { name, field, of };
  }
  return undefined;
}

/** Returns the kind of an object of the API, if it has a page. */
export function kindOf(object: Readonly<Record<string, unknown>> | null | undefined): ObjectKind | undefined {
  return OBJECT_KINDS.find((known) => known === object?.["object"]);
}

/** Returns the ID in an object that refers to another: a payment's order, an order's customer; null if there is none. */
export function referenceIn(object: Readonly<Record<string, unknown>>): string | null {
  const { name } = referenceOf(kindOf(object)) ?? {};
  const id = name && object[name];
  return typeof id === "string" ? id : null;
}

/** Reads the objects that a list refers to, those of a kind in a request, and keeps them current. */
export function useObjects(ids: readonly (string | null | undefined)[]): FindObject {
  const call = useCall();
  const draw = useRedraw();
  const { current: requested } = useRef(new Set<string>());
  const read = async (kind: ObjectKind, unread: readonly string[]) => {
    for (const id of unread) requested.add(id);
    try {
      const query = { query: unread.join(","), limit: LIMITS.maxPageSize };
      const { data } = await call<{ data: Item[] }>("GET", withQuery(pathOf(kind), query));
      const found = new Map(data.map((item) => [item.id, item]));
      for (const id of unread) keep(id, found.get(id) ?? null);
    } catch {
      // They are requested again with the next page.
      for (const id of unread) requested.delete(id);
      return;
    }
    draw();
  };
  useEffect(() => {
    const missing = [...new Set(ids)].filter((id) => typeof id === "string" && !requested.has(id)) as string[];
    for (const kind of OBJECT_KINDS) {
      const unread = missing.filter((id) => kindOfId(id) === kind);
      for (let start = 0; start < unread.length; start += LIMITS.maxPageSize) {
        void read(kind, unread.slice(start, start + LIMITS.maxPageSize));
      }
    }
  });
  useEffect(
    () =>
      follow({
        event({ type, data }) {
          const object = data.object as unknown as Item;
          if (kindOf(object) === undefined) return;
          // What was just created need not be read.
          if (type.endsWith(".created") && requested.size < MAX_OBJECTS) requested.add(object.id);
          if (!requested.has(object.id)) return;
          keep(object.id, type.endsWith(".deleted") ? null : object);
          draw();
        },
        missed() {
          requested.clear();
          draw();
        },
      }),
    [],
  );
  return (id) => objects.get(id);
}

/** Finds whom objects belong to, by what they refer to: a payment to the customer of its order. */
export function useOwners(references: readonly (string | null)[]): FindObject {
  const ownerOf = (reference: string) => {
    const first = objects.get(reference);
    const next = first ? referenceIn(first) : null;
    return next === null ? first : objects.get(next);
  };
  const known = references.map((reference) => (reference === null ? null : objects.get(reference)));
  useObjects([...references, ...known.map((object) => (object ? referenceIn(object) : null))]);
  return ownerOf;
}
