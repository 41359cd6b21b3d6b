import type { Order } from "../../../contract/schemas/order.ts";
import type { Payment } from "../../../contract/schemas/payment.ts";
import { call } from "../../api/call.ts";
import { usePages, useQuery } from "../../api/use-query.ts";
import { Action } from "../../components/action.tsx";
import { Badge } from "../../components/badge.tsx";
import { Id } from "../../components/copy.tsx";
import { MetadataFacts } from "../../components/metadata-facts.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { money } from "../../format.ts";
import { hrefOf } from "../../router.tsx";
import { PAYMENTS } from "../amounts/kind.ts";
import { AmountTable } from "../amounts/table.tsx";
import { ObjectLink } from "../object-link.tsx";
import { RelatedEvents } from "../related-events.tsx";

export function OrderDetail({ id }: { id: string }) {
  const query = useQuery<Order>(`/v1/orders/${encodeURIComponent(id)}`, { every: 2000 });
  const payments = usePages<Payment>("/v1/payments", { order: id }, { every: 2000 });
  const { data } = query;
  const move = (verb: "complete" | "cancel", done: string) => async () => {
    await call("POST", `/v1/orders/${id}/${verb}`);
    query.reload();
    return `${done} ${id}`;
  };
  return (
    <Page
      title={data === undefined ? "Order" : `Order of ${money(data.amount, data.currency)}`}
      back={{ href: hrefOf("orders"), label: "Orders" }}
      actions={
        data?.status === "pending" && (
          <>
            <Action run={move("cancel", "Canceled")}>Cancel order</Action>
            <Action class="primary" run={move("complete", "Completed")}>
              Complete order
            </Action>
          </>
        )
      }
    >
      <Loaded of={query}>
        {(order) => (
          <>
            <Facts
              rows={[
                ["Status", <Badge status={order.status} />],
                ["Id", <Id id={order.id} />],
                ["Customer", <ObjectLink id={order.customer} />],
                ["Created", <Time at={order.created} />],
              ]}
            />
            <MetadataFacts metadata={order.metadata} />
            <Card title="Payments">
              <AmountTable
                kind={PAYMENTS}
                isOfOneOwner
                label="Payments of this order"
                pages={payments}
                empty={<Empty title="No payments yet." />}
              />
            </Card>
            <RelatedEvents id={order.id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
