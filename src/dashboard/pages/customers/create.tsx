import { useState } from "preact/hooks";
import type { Customer } from "../../../contract/schemas/customer.ts";
import { call } from "../../api/call.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { filledIn, MetadataField, parseMetadata } from "../../components/metadata-field.tsx";
import { say } from "../../components/toasts.tsx";
import { go, hrefOf } from "../../router.tsx";

export function CreateCustomer({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [phone, setPhone] = useState("");
  const [metadata, setMetadata] = useState("");
  return (
    <Dialog title="Create a customer" onClose={onClose}>
      <Form
        submit="Create customer"
        fields={["email", "name", "phone", "metadata"]}
        onCancel={onClose}
        run={async () => {
          const body = { email, ...filledIn({ name, phone }), metadata: parseMetadata(metadata) };
          const created = await call<Customer>("POST", "/v1/customers", body);
          say(`Created ${created.id}`);
          onClose();
          go(hrefOf("customers", created.id));
        }}
      >
        {(error) => (
          <>
            <Field
              label="Email"
              name="email"
              value={email}
              onInput={setEmail}
              error={error}
              required
              placeholder="ada@example.com"
            />
            <Field label="Name" name="name" value={name} onInput={setName} error={error} />
            <Field
              label="Phone"
              name="phone"
              value={phone}
              onInput={setPhone}
              error={error}
              placeholder="+442071838750"
            />
            <MetadataField value={metadata} onInput={setMetadata} error={error} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
