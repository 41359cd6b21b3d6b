import { isRecord } from "../../../contract/json.ts";
import { type Field, OBJECT_KINDS, resourceOf } from "../../../contract/resources.ts";
import type { ListedEvent } from "../../../contract/schemas/event.ts";
import { money } from "../../format.ts";

export type Change = readonly [field: string, before: unknown, after: unknown];

/** Returns the name of the event's object for a line. */
export function nameOf(object: Record<string, unknown>): string {
  const { email, amount, currency, url, description, id } = object;
  if (typeof email === "string") return email;
  if (typeof amount === "number" && typeof currency === "string") return money(amount, currency);
  if (typeof description === "string" && description.trim() !== "") return description;
  if (typeof url === "string") return url;
  return typeof id === "string" ? id : "";
}

/** Returns the fields that an event changed. The event of a status change has the status only in its type. */
export function changesOf({ type, data }: Pick<ListedEvent, "type" | "data">): Change[] {
  if (data === null) return [];
  const { object, previous } = data;
  const changes = Object.entries(previous ?? {}).flatMap(([name, before]) => changesIn(name, before, object[name]));
  const [name, verb] = type.split(".");
  const kind = OBJECT_KINDS.find((known) => known === name);
  const [initial] = Object.keys((kind && resourceOf(kind).statuses) ?? {});
  const { status } = object;
  if (kind === undefined || initial === undefined || verb !== status || status === initial) return changes;
  if (changes.length > 0) return changes;
  const codes = Object.entries<Field>(resourceOf(kind).fields ?? {}).filter(
    ([field, { type: of }]) => of === "code" && object[field] != null,
  );
  return [["status", initial, status], ...codes.map(([field]): Change => [field, null, object[field]])];
}

/** Returns the changes of a field. The previous metadata has only the keys that were changed. */
function changesIn(name: string, before: unknown, after: unknown): Change[] {
  if (!isRecord(before) || !isRecord(after)) return [[name, before, after]];
  return Object.entries(before).map(([key, old]) => [`${name}.${key}`, old, after[key]]);
}

/** Returns a change for a line: `status: pending → completed`. */
export function changeInWords([name, before, after]: Change): string {
  return `${name}: ${inWords(before)} → ${inWords(after)}`;
}

function inWords(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "–");
}
