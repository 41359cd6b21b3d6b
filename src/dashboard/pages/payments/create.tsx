import { useState } from "preact/hooks";
import type { Payment } from "../../../contract/schemas/payment.ts";
import { call } from "../../api/call.ts";
import { AmountFields, amountOf } from "../../components/amount-fields.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { filledIn, MetadataField, parseMetadata } from "../../components/metadata-field.tsx";
import { say } from "../../components/toasts.tsx";
import { go, hrefOf } from "../../router.tsx";

export function CreatePayment({ onClose }: { onClose: () => void }) {
  const [amount, setAmount] = useState("");
  const [currency, setCurrency] = useState("EUR");
  const [order, setOrder] = useState("");
  const [metadata, setMetadata] = useState("");
  return (
    <Dialog title="Create a payment" onClose={onClose}>
      <Form
        submit="Create payment"
        fields={["amount", "currency", "order", "metadata"]}
        onCancel={onClose}
        run={async () => {
          const body = {
            amount: amountOf(amount),
            currency,
            ...filledIn({ order }),
            metadata: parseMetadata(metadata),
          };
          const created = await call<Payment>("POST", "/v1/payments", body);
          say(`Created ${created.id}`);
          onClose();
          go(hrefOf("payments", created.id));
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
            <Field label="Order" name="order" value={order} onInput={setOrder} error={error} placeholder="ord_…" />
            <MetadataField value={metadata} onInput={setMetadata} error={error} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
