import type { ComponentChildren } from "preact";
import type { Pages } from "../../api/use-query.ts";
import { Badge } from "../../components/badge.tsx";
import { type Column, PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { money } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { ObjectLink } from "../object-link.tsx";
import type { Amount, AmountKind } from "./kind.ts";

/** Orders or payments; those of payments say why one failed. */
export function AmountTable<Item extends Amount>(props: {
  kind: AmountKind;
  /** Leaves out whom they belong to: the page says it. */
  isOfOneOwner?: boolean;
  label: string;
  pages: Pages<Item>;
  empty: ComponentChildren;
}) {
  const { page, owner } = props.kind;
  const ofOwner: Column<Item> = {
    label: owner.label,
    from: "tablet",
    cell: (item) => <ObjectLink id={ownerOf(item)} />,
  };
  const failure: Column<Item> = { label: "Failure", cell: (item) => failureOf(item) ?? <span class="soft">–</span> };
  return (
    <PagedTable
      label={props.label}
      pages={props.pages}
      empty={props.empty}
      columns={[
        {
          label: "Amount",
          cell: ({ id, amount, currency }) => <Link href={hrefOf(page, id)}>{money(amount, currency)}</Link>,
        },
        { label: "Status", cell: ({ status }) => <Badge status={status} /> },
        ...(page === "payments" ? [failure] : []),
        ...(props.isOfOneOwner === true ? [] : [ofOwner]),
        { label: "Id", from: "tablet", cell: ({ id }) => <code>{id}</code> },
        {
          label: "Created",
          ...(page === "payments" ? { from: "tablet" } : {}),
          cell: ({ created }) => <Time at={created} />,
        },
      ]}
    />
  );
}

function ownerOf(item: Amount): string | null {
  return item.object === "order" ? item.customer : item.order;
}

function failureOf(item: Amount): string | null {
  return item.object === "payment" ? item.failure_code : null;
}
