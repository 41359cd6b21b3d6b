import type { ComponentChildren } from "preact";
import { type Field, type ObjectKind, RESOURCES } from "../../../contract/resources.ts";
import { Badge } from "../../components/badge.tsx";
import { money } from "../../format.ts";
import { ObjectLink } from "../object-link.tsx";

/** An object of the API that the table of resources describes by its fields. */
export interface Item extends Record<string, unknown> {
  id: string;
  metadata: Record<string, string>;
  created: string;
}

/** Returns the fields to show, the status first. The currency is part of the amount. */
export function shownFields(kind: ObjectKind): [name: string, field: Field][] {
  const fields = Object.entries<Field>(RESOURCES[kind].fields).filter(([, { type }]) => type !== "currency");
  return [...fields.filter(([, { type }]) => type === "status"), ...fields.filter(([, { type }]) => type !== "status")];
}

/** Returns the field that names an object in titles and links: its first one. */
export function titleField(kind: ObjectKind): string {
  return Object.keys(RESOURCES[kind].fields)[0]!;
}

/** Returns the title of an object's page: `Order of EUR 19.99`, or its address. */
export function titleOf(kind: ObjectKind, item: Item | undefined): string {
  const { label, fields } = RESOURCES[kind];
  const name = titleField(kind);
  if (item === undefined) return label;
  const value = amountOrText(item, name, (fields as Readonly<Record<string, Field>>)[name]!);
  return "amount" in fields ? `${label} of ${value}` : value;
}

/** Returns the value of a field as text: an amount with its currency. */
export function amountOrText(item: Item, name: string, { type }: Field): string {
  const { [name]: value, currency } = item;
  return type === "amount" ? money(value as number, currency as string) : ((value ?? "") as string);
}

/** Shows the value of a field: a status as a badge, an ID as a link. Returns undefined for null. */
export function valueOf(item: Item, name: string, field: Field): ComponentChildren | undefined {
  const value = item[name] as string | null;
  if (field.type === "id") return <ObjectLink id={value} />;
  if (field.type === "status") return <Badge status={value ?? ""} />;
  return value === null ? undefined : amountOrText(item, name, field);
}
