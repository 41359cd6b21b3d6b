import { useState } from "preact/hooks";
import type { Order } from "../../../contract/schemas/order.ts";
import { call } from "../../api/call.ts";
import { AmountFields, amountOf } from "../../components/amount-fields.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { filledIn, MetadataField, parseMetadata } from "../../components/metadata-field.tsx";
import { say } from "../../components/toasts.tsx";
import { go, hrefOf } from "../../router.tsx";

export function CreateOrder({ onClose }: { onClose: () => void }) {
  const [amount, setAmount] = useState("");
  const [currency, setCurrency] = useState("EUR");
  const [customer, setCustomer] = useState("");
  const [metadata, setMetadata] = useState("");
  return (
    <Dialog title="Create an order" onClose={onClose}>
      <Form
        submit="Create order"
        fields={["amount", "currency", "customer", "metadata"]}
        onCancel={onClose}
        run={async () => {
          const body = {
            amount: amountOf(amount),
            currency,
            ...filledIn({ customer }),
            metadata: parseMetadata(metadata),
          };
          const created = await call<Order>("POST", "/v1/orders", body);
          say(`Created ${created.id}`);
          onClose();
          go(hrefOf("orders", created.id));
        }}
      >
        {(error) => (
          <>
            <AmountFields
              amount={amount}
              currency={currency}
              onAmount={setAmount}
              onCurrency={setCurrency}
              error={error}
            />
            <Field
              label="Customer"
              name="customer"
              value={customer}
              onInput={setCustomer}
              error={error}
              placeholder="cus_…"
            />
            <MetadataField value={metadata} onInput={setMetadata} error={error} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
