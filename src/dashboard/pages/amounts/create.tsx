import { useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { filledIn, MetadataField, parseMetadata } from "../../components/metadata-field.tsx";
import { say } from "../../components/toasts.tsx";
import { go, hrefOf } from "../../router.tsx";
import { AmountFields, amountOf } from "./amount-fields.tsx";
import type { Amount, AmountKind } from "./kind.ts";

/** Creates an order or a payment, and goes to it. */
export function CreateAmount({ kind: { page, noun, owner }, onClose }: { kind: AmountKind; onClose: () => void }) {
  const [amount, setAmount] = useState("");
  const [currency, setCurrency] = useState("EUR");
  const [ownerId, setOwnerId] = useState("");
  const [metadata, setMetadata] = useState("");
  return (
    <Dialog title={`Create ${noun === "order" ? "an order" : "a payment"}`} onClose={onClose}>
      <Form
        submit={`Create ${noun}`}
        fields={["amount", "currency", owner.name, "metadata"]}
        onCancel={onClose}
        run={async () => {
          const created = await call<Amount>("POST", `/v1/${page}`, {
            amount: amountOf(amount),
            currency,
            ...filledIn({ [owner.name]: ownerId }),
            metadata: parseMetadata(metadata),
          });
          say(`Created ${created.id}`);
          onClose();
          go(hrefOf(page, created.id));
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
              label={owner.label}
              name={owner.name}
              value={ownerId}
              onInput={setOwnerId}
              error={error}
              placeholder={`${owner.idPrefix}…`}
            />
            <MetadataField value={metadata} onInput={setMetadata} error={error} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
