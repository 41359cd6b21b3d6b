import type { ComponentChildren } from "preact";
import type { Order } from "../../../contract/schemas/order.ts";
import type { Pages } from "../../api/use-query.ts";
import { Badge } from "../../components/badge.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { money } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { ObjectLink } from "../object-link.tsx";

export function OrderTable(props: { label: string; pages: Pages<Order>; empty: ComponentChildren }) {
  return (
    <PagedTable
      label={props.label}
      pages={props.pages}
      empty={props.empty}
      columns={[
        {
          label: "Amount",
          cell: ({ id, amount, currency }) => <Link href={hrefOf("orders", id)}>{money(amount, currency)}</Link>,
        },
        { label: "Status", cell: ({ status }) => <Badge status={status} /> },
        { label: "Customer", isMinor: true, cell: ({ customer }) => <ObjectLink id={customer} /> },
        { label: "Id", isMinor: true, cell: ({ id }) => <code>{id}</code> },
        { label: "Created", cell: ({ created }) => <Time at={created} /> },
      ]}
    />
  );
}
