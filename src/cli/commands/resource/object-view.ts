import { type Field, type KindWith, type ObjectKind, RESOURCES } from "../../../contract/resources.ts";
import type { Column } from "../../terminal/view.ts";
import { AMOUNT, CREATED, CREATED_AT, ENVIRONMENT, ID, METADATA, statusColumn } from "./columns.ts";
import { nounsFor, locationOf, type Resource } from "./resource.ts";

/** Members of every object that the table of resources describes by its fields. */
export interface ObjectItem extends Record<string, unknown> {
  id: string;
  metadata: Record<string, string>;
  livemode: boolean;
  created: string;
}

/** Returns how the command shows a resource: its status first, then its fields in the table's order. */
export function objectResource(kind: ObjectKind): Resource<ObjectItem> {
  const fields = Object.entries<Field>(RESOURCES[kind].fields);
  const shown = [
    ...fields.filter(([, { type }]) => type === "status"),
    ...fields.filter(([, { type }]) => type !== "status"),
  ].map(([name, field]) => ({ ...field, column: columnOf(kind, name, field) }));
  return {
    ...locationOf(kind),
    view: {
      ...nounsFor(kind),
      fields: ["id", "object", ...fields.map(([name]) => name), "metadata", "livemode", "created"],
      columns: [
        ID,
        ...shown.flatMap(({ inList, required, type, column }) =>
          inList ? [{ ...column, ...(required || type === "status" ? {} : { optional: true }) }] : [],
        ),
        CREATED,
      ],
      details: [ID, ...shown.map(({ column }) => column), METADATA, ENVIRONMENT, CREATED_AT],
    },
  };
}

function columnOf(kind: ObjectKind, name: string, { type, label }: Field): Column<ObjectItem> {
  if (type === "amount") return AMOUNT as unknown as Column<ObjectItem>;
  if (type === "status") return statusColumn(kind as KindWith<"statuses">) as unknown as Column<ObjectItem>;
  const text = ({ [name]: value }: ObjectItem) => (value ?? "") as string;
  return { label, text, ...(type === "text" || type === "email" ? { shrinks: true } : {}) };
}
