import type { Payment } from "../../../contract/schemas/payment.ts";
import { usePages } from "../../api/use-query.ts";
import { CreateButton } from "../../components/create-button.tsx";
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { place } from "../../router.tsx";
import { IdSearch } from "../id-search.tsx";
import { chosenStatus, StatusFilter } from "../status-filter.tsx";
import { CreatePayment } from "./create.tsx";
import { PaymentDetail } from "./detail.tsx";
import { PaymentTable } from "./payment-table.tsx";

export function Payments() {
  const { id } = place.value;
  return id === "" ? <PaymentList /> : <PaymentDetail id={id} />;
}

function PaymentList() {
  const status = chosenStatus();
  const order = place.value.query.get("of") ?? "";
  const pages = usePages<Payment>("/v1/payments", { status, order }, { every: 5000 });
  return (
    <Page
      title="Payments"
      actions={<CreateButton label="Create payment" dialog={(close) => <CreatePayment onClose={close} />} />}
    >
      <div class="filters" role="search">
        <StatusFilter page="payments" statuses={["pending", "succeeded", "failed"]} />
        <IdSearch page="payments" owner="ord_" hint="Payment id, or the id of its order" />
      </div>
      <PaymentTable
        label="Payments, newest first"
        pages={pages}
        empty={
          <Empty title={status === "" && order === "" ? "No payments yet." : "No payment fits."}>
            <p>Create one here, or with POST /v1/payments.</p>
          </Empty>
        }
      />
    </Page>
  );
}
