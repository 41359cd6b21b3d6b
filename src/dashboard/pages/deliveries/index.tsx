import type { Delivery } from "../../../contract/schemas/delivery.ts";
import { usePages } from "../../api/use-query.ts";
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { place } from "../../router.tsx";
import { chosenStatus, StatusFilter } from "../status-filter.tsx";
import { DeliveryDetail } from "./detail.tsx";
import { DeliveryTable } from "./delivery-table.tsx";

export function Deliveries() {
  const { id } = place.value;
  return id === "" ? <DeliveryList /> : <DeliveryDetail id={id} />;
}

function DeliveryList() {
  const status = chosenStatus();
  const pages = usePages<Delivery>("/v1/deliveries", { status }, { every: 2000 });
  return (
    <Page title="Deliveries" subtitle="One row for each event and receiver. Retried for 3 days.">
      <div class="filters" role="search">
        <StatusFilter page="deliveries" statuses={["pending", "succeeded", "failed"]} />
      </div>
      <DeliveryTable
        label="Deliveries, newest first"
        pages={pages}
        empty={
          <Empty title={status === "" ? "Nothing was delivered yet." : `No delivery is ${status}.`}>
            <p>An event goes to every endpoint that subscribes to its type, and to whoever listens.</p>
          </Empty>
        }
      />
    </Page>
  );
}
