import { useState } from "preact/hooks";
import type { Customer } from "../../../contract/schemas/customer.ts";
import type { Order } from "../../../contract/schemas/order.ts";
import { call } from "../../api/call.ts";
import { usePages, useQuery } from "../../api/use-query.ts";
import { ConfirmedAction } from "../../components/action.tsx";
import { Id } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { MetadataFacts } from "../../components/metadata-facts.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { say } from "../../components/toasts.tsx";
import { go, hrefOf } from "../../router.tsx";
import { ORDERS } from "../amounts/kind.ts";
import { AmountTable } from "../amounts/table.tsx";
import { RelatedEvents } from "../related-events.tsx";

export function CustomerDetail({ id }: { id: string }) {
  const query = useQuery<Customer>(`/v1/customers/${encodeURIComponent(id)}`, { every: 2000 });
  const orders = usePages<Order>("/v1/orders", { customer: id }, { every: 2000 });
  const [isEditing, setEditing] = useState(false);
  return (
    <Page
      title={query.data?.email ?? "Customer"}
      back={{ href: hrefOf("customers"), label: "Customers" }}
      actions={
        query.data !== undefined && (
          <>
            <button type="button" onClick={() => setEditing(true)}>
              Edit
            </button>
            <ConfirmedAction
              class="danger"
              title="Delete this customer?"
              explanation={<p>The customer is gone for good. Orders and events stay.</p>}
              verb="Delete customer"
              run={async () => {
                await call("DELETE", `/v1/customers/${id}`);
                go(hrefOf("customers"));
                return `Deleted ${id}`;
              }}
            >
              Delete
            </ConfirmedAction>
          </>
        )
      }
    >
      <Loaded of={query}>
        {(customer) => (
          <>
            <Facts
              rows={[
                ["Id", <Id id={customer.id} />],
                ["Name", customer.name],
                ["Phone", customer.phone],
                ["Created", <Time at={customer.created} />],
              ]}
            />
            <MetadataFacts metadata={customer.metadata} />
            <Card title="Orders">
              <AmountTable
                kind={ORDERS}
                isOfOneOwner
                label="Orders of this customer"
                pages={orders}
                empty={<Empty title="No orders yet." />}
              />
            </Card>
            <RelatedEvents id={customer.id} />
            {isEditing && (
              <EditCustomer
                customer={customer}
                onClose={() => {
                  setEditing(false);
                  query.reload();
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function EditCustomer({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const [email, setEmail] = useState(customer.email);
  const [name, setName] = useState(customer.name ?? "");
  const [phone, setPhone] = useState(customer.phone ?? "");
  return (
    <Dialog title="Edit the customer" onClose={onClose}>
      <Form
        submit="Save"
        fields={["email", "name", "phone"]}
        onCancel={onClose}
        run={async () => {
          await call("PATCH", `/v1/customers/${customer.id}`, { email, name: name || null, phone: phone || null });
          say(`Saved ${customer.id}`);
          onClose();
        }}
      >
        {(error) => (
          <>
            <Field label="Email" name="email" value={email} onInput={setEmail} error={error} required />
            <Field label="Name" name="name" value={name} onInput={setName} error={error} />
            <Field label="Phone" name="phone" value={phone} onInput={setPhone} error={error} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
