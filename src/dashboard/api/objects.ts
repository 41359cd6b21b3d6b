import { useEffect, useRef } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import { type ObjectKind, pathOf } from "../../contract/resources.ts";
import { environment } from "../router.tsx";
import { useCall, withQuery } from "./call.ts";
import { follow } from "./live.ts";
import { dropOldest, useRedraw } from "./store.ts";

/** An API object of a resource that is described by its fields in the table of resources. */
export interface Item extends Record<string, unknown> {
  id: string;
  metadata: Record<string, string>;
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

/** Reads the objects of one kind that a list refers to, many in a request, and keeps them current. */
export function useObjects(kind: ObjectKind | undefined, ids: readonly (string | null)[]): FindObject {
  const call = useCall();
  const draw = useRedraw();
  const { current: requested } = useRef(new Set<string>());
  const missing = [...new Set(ids)].filter((id) => id !== null).filter((id) => !requested.has(id));
  const read = async (of: ObjectKind, unread: readonly string[]) => {
    for (const id of unread) requested.add(id);
    try {
      const query = { query: unread.join(","), limit: LIMITS.maxPageSize };
      const { data } = await call<{ data: Item[] }>("GET", withQuery(pathOf(of), query));
      const found = new Map(data.map((item) => [item.id, item]));
      for (const id of unread) keep(id, found.get(id) ?? null);
    } catch {
      // The next page that is read asks again.
      for (const id of unread) requested.delete(id);
      return;
    }
    draw();
  };
  useEffect(() => {
    if (kind === undefined) return;
    for (let start = 0; start < missing.length; start += LIMITS.maxPageSize) {
      void read(kind, missing.slice(start, start + LIMITS.maxPageSize));
    }
  });
  useEffect(
    () =>
      follow({
        event({ type, data }) {
          const object = data.object as unknown as Item;
          if (!type.startsWith(`${kind}.`) || !requested.has(object.id)) return;
          keep(object.id, type === `${kind}.deleted` ? null : object);
          draw();
        },
        missed() {
          requested.clear();
          draw();
        },
      }),
    [kind],
  );
  return (id) => objects.get(id);
}
