import type { ComponentChildren } from "preact";
import type { Payment } from "../../../contract/schemas/payment.ts";
import type { Pages } from "../../api/use-query.ts";
import { Badge } from "../../components/badge.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { money } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { ObjectLink } from "../object-link.tsx";

export function PaymentTable(props: { label: string; pages: Pages<Payment>; empty: ComponentChildren }) {
  return (
    <PagedTable
      label={props.label}
      pages={props.pages}
      empty={props.empty}
      columns={[
        {
          label: "Amount",
          cell: ({ id, amount, currency }) => <Link href={hrefOf("payments", id)}>{money(amount, currency)}</Link>,
        },
        { label: "Status", cell: ({ status }) => <Badge status={status} /> },
        { label: "Failure", cell: ({ failure_code: code }) => code ?? <span class="soft">–</span> },
        { label: "Order", isMinor: true, cell: ({ order }) => <ObjectLink id={order} /> },
        { label: "Id", isMinor: true, cell: ({ id }) => <code>{id}</code> },
        { label: "Created", isMinor: true, cell: ({ created }) => <Time at={created} /> },
      ]}
    />
  );
}
