import type { ComponentChildren } from "preact";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { type Pages, usePages } from "../../api/use-query.ts";
import { Badge } from "../../components/badge.tsx";
import { type Column, PagedTable } from "../../components/table.tsx";
import { Distance, Time } from "../../components/time.tsx";
import { hrefOf, Link } from "../../router.tsx";

export function DeliveryTable(props: {
  label: string;
  pages: Pages<Delivery>;
  empty?: ComponentChildren;
  /** What all of them have in common, and the page says. */
  of?: "event" | "receiver";
}) {
  const endpoints = usePages<WebhookEndpoint>("/v1/webhook_endpoints", {}, { limit: 100, every: 5000 });
  const urls = new Map(endpoints.items?.map(({ id, url }) => [id, url]));
  const receiverOf = ({ endpoint, listener }: Delivery) =>
    endpoint === null ? `listener ${listener}` : (urls.get(endpoint) ?? endpoint);
  const receiver: Column<Delivery> = {
    label: "Receiver",
    from: "tablet",
    cell: (delivery) =>
      delivery.endpoint === null ? (
        receiverOf(delivery)
      ) : (
        <Link class="long" href={hrefOf("endpoints", delivery.endpoint)}>
          {receiverOf(delivery)}
        </Link>
      ),
  };
  return (
    <PagedTable
      label={props.label}
      pages={props.pages}
      empty={props.empty}
      columns={[
        {
          label: props.of === "event" ? "Receiver" : "Event",
          cell: (delivery) => (
            <Link class="long" href={hrefOf("deliveries", delivery.id)}>
              {props.of === "event" ? receiverOf(delivery) : delivery.event_type}
            </Link>
          ),
        },
        { label: "Status", cell: ({ status }) => <Badge status={status} /> },
        { label: "Attempts", from: "tablet", isNumber: true, cell: ({ attempt_count: attempts }) => attempts },
        {
          label: "Next",
          cell: ({ next_attempt: next }) => (next === null ? <span class="soft">–</span> : <Distance at={next} />),
        },
        ...(props.of === undefined ? [receiver] : []),
        { label: "Created", from: "tablet", cell: ({ created }) => <Time at={created} /> },
      ]}
    />
  );
}
