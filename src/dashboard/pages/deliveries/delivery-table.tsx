import type { ComponentChildren } from "preact";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Pages } from "../../api/use-query.ts";
import { Badge } from "../../components/badge.tsx";
import { type Column, PagedTable } from "../../components/table.tsx";
import { Distance, Time } from "../../components/time.tsx";
import { hrefOf, Link } from "../../router.tsx";
import { ObjectLink } from "../object-link.tsx";

const RECEIVER: Column<Delivery> = {
  label: "Receiver",
  from: "tablet",
  cell: ({ endpoint, listener }) => (endpoint === null ? <>listener {listener}</> : <ObjectLink id={endpoint} />),
};

export function DeliveryTable(props: {
  label: string;
  pages: Pages<Delivery>;
  empty?: ComponentChildren;
  /** Leaves out the receiver: the page says it. */
  isOfOneReceiver?: boolean;
}) {
  return (
    <PagedTable
      label={props.label}
      pages={props.pages}
      empty={props.empty}
      columns={[
        { label: "Event", cell: ({ id, event_type: type }) => <Link href={hrefOf("deliveries", id)}>{type}</Link> },
        { label: "Status", cell: ({ status }) => <Badge status={status} /> },
        { label: "Attempts", from: "tablet", isNumber: true, cell: ({ attempt_count: attempts }) => attempts },
        {
          label: "Next",
          cell: ({ next_attempt: next }) => (next === null ? <span class="soft">–</span> : <Distance at={next} />),
        },
        ...(props.isOfOneReceiver === true ? [] : [RECEIVER]),
        { label: "Created", from: "tablet", cell: ({ created }) => <Time at={created} /> },
      ]}
    />
  );
}
