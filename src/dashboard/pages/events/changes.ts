import { OBJECT_KINDS, resourceOf } from "../../../contract/resources.ts";
import type { ListedEvent } from "../../../contract/schemas/event.ts";

export type Change = readonly [field: string, before: unknown, after: unknown];

/** Returns the fields that an event changed. The event of a status change has the status only in its type. */
export function changesOf({ type, data }: Pick<ListedEvent, "type" | "data">): Change[] {
  if (data === null) return [];
  const { object, previous } = data;
  const changes = Object.entries(previous ?? {}).map(([name, before]): Change => [name, before, object[name]]);
  const [name, verb] = type.split(".");
  const kind = OBJECT_KINDS.find((known) => known === name);
  const [initial] = Object.keys((kind && resourceOf(kind).statuses) ?? {});
  const { status } = object;
  const isOfStatus = kind !== undefined && initial !== undefined && verb === status && status !== initial;
  return isOfStatus && changes.length === 0 ? [["status", initial, status]] : changes;
}

/** Returns a change for a line: `status: pending → completed`. */
export function changeInWords([name, before, after]: Change): string {
  return `${name}: ${inWords(before)} → ${inWords(after)}`;
}

function inWords(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "–");
}
