import type { Order } from "../../../contract/schemas/order.ts";
import { usePages } from "../../api/use-query.ts";
import { CreateButton } from "../../components/create-button.tsx";
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { place } from "../../router.tsx";
import { IdSearch } from "../id-search.tsx";
import { chosenStatus, StatusFilter } from "../status-filter.tsx";
import { CreateOrder } from "./create.tsx";
import { OrderDetail } from "./detail.tsx";
import { OrderTable } from "./order-table.tsx";

export function Orders() {
  const { id } = place.value;
  return id === "" ? <OrderList /> : <OrderDetail id={id} />;
}

function OrderList() {
  const status = chosenStatus();
  const customer = place.value.query.get("of") ?? "";
  const pages = usePages<Order>("/v1/orders", { status, customer }, { every: 5000 });
  return (
    <Page
      title="Orders"
      actions={<CreateButton label="Create order" dialog={(close) => <CreateOrder onClose={close} />} />}
    >
      <div class="filters" role="search">
        <StatusFilter page="orders" statuses={["pending", "completed", "canceled"]} />
        <IdSearch page="orders" owner="cus_" hint="Order id, or the id of its customer" />
      </div>
      <OrderTable
        label="Orders, newest first"
        pages={pages}
        empty={
          <Empty title={status === "" && customer === "" ? "No orders yet." : "No order fits."}>
            <p>Create one here, or with POST /v1/orders.</p>
          </Empty>
        }
      />
    </Page>
  );
}
