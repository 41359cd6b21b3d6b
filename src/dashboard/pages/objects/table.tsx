import type { ComponentChildren } from "preact";
import { type ObjectKind, RESOURCES } from "../../../contract/resources.ts";
import type { Pages } from "../../api/use-query.ts";
import { type Column, PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { hrefOf, Link } from "../../router.tsx";
import { amountOrText, type Item, shownFields, titleField, valueOf } from "./item.tsx";

/** Objects of one kind. */
export function ObjectTable(props: {
  kind: ObjectKind;
  /** A field that has the same value in every row, and is left out. */
  without?: string;
  label: string;
  pages: Pages<Item>;
  empty: ComponentChildren;
  fits?: (item: Item) => boolean;
}) {
  const { kind, without, ...table } = props;
  const title = titleField(kind);
  const fields = shownFields(kind).filter(([name, { inList }]) => inList && name !== without);
  const ordered = [...fields.filter(([name]) => name === title), ...fields.filter(([name]) => name !== title)];
  const columns = ordered.map(([name, field]): Column<Item> => ({
    label: field.label,
    ...(field.type === "id" ? { from: "tablet" } : {}),
    cell: (item) =>
      name === title ? (
        <Link href={hrefOf(RESOURCES[kind].page.name, item.id)}>{amountOrText(item, name, field)}</Link>
      ) : (
        (valueOf(item, name, field) ?? <span class="soft">–</span>)
      ),
  }));
  return (
    <PagedTable
      {...table}
      columns={[
        ...columns,
        { label: "Id", from: "tablet", cell: ({ id }) => <code>{id}</code> },
        { label: "Created", from: "tablet", cell: ({ created }) => <Time at={created} /> },
      ]}
    />
  );
}
