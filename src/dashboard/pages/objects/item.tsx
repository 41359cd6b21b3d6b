import type { ComponentChildren } from "preact";
import { type Field, type ObjectKind, RESOURCES } from "../../../contract/resources.ts";
import type { Pages } from "../../api/pages.ts";
import { type Column, PagedTable } from "../../components/table.tsx";
import { None, ObjectLink, Status, Time } from "../../components/values.tsx";
import { money } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";

/** An API object of a resource that is described by its fields in the table of resources. */
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
  if (field.type === "status") return <Status status={value ?? ""} />;
  return value === null ? undefined : amountOrText(item, name, field);
}

/** Objects of one kind. */
export function ObjectTable(props: {
  kind: ObjectKind;
  /** A field that has the same value in every row, and is left out. */
  without?: string;
  label: string;
  pages: Pages<Item>;
  empty: ComponentChildren;
  keepsPosition?: boolean;
  search?: string;
}) {
  const { kind, without, ...table } = props;
  const title = titleField(kind);
  const fields = shownFields(kind).filter(([name, { inList }]) => inList && name !== without);
  const ordered = [...fields.filter(([name]) => name === title), ...fields.filter(([name]) => name !== title)];
  const columns = ordered.map(([name, field]): Column<Item> => ({
    label: field.label,
    ...(field.type === "id" || field.type === "code" ? { from: "tablet" } : {}),
    isNumber: field.type === "amount",
    isLong: field.type === "email" || field.type === "text",
    cell: (item) =>
      name === title ? (
        <Link href={hrefOf(RESOURCES[kind].page.name, item.id)}>{amountOrText(item, name, field)}</Link>
      ) : (
        (valueOf(item, name, field) ?? <None />)
      ),
  }));
  return (
    <PagedTable
      {...table}
      columns={[
        ...columns,
        { label: "ID", from: "desktop", cell: ({ id }) => <code class="soft">{id}</code> },
        { label: "Created", cell: ({ created }) => <Time at={created} /> },
      ]}
    />
  );
}
