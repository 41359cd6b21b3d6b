import { useState } from "preact/hooks";
import type { Customer } from "../../../contract/schemas/customer.ts";
import { usePages } from "../../api/use-query.ts";
import { CreateButton } from "../../components/create-button.tsx";
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { hrefOf, Link, place } from "../../router.tsx";
import { SearchField } from "../search-field.tsx";
import { CreateCustomer } from "./create.tsx";
import { CustomerDetail } from "./detail.tsx";

export function Customers() {
  const { id } = place.value;
  return id === "" ? <CustomerList /> : <CustomerDetail id={id} />;
}

function CustomerList() {
  const [search, setSearch] = useState("");
  const isEmail = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(search);
  const pages = usePages<Customer>("/v1/customers", { email: isEmail ? search : undefined }, { every: 5000 });
  const wanted = search.toLowerCase();
  return (
    <Page
      title="Customers"
      actions={<CreateButton label="Create customer" dialog={(close) => <CreateCustomer onClose={close} />} />}
    >
      <SearchField
        page="customers"
        idPrefix="cus_"
        value={search}
        onInput={setSearch}
        hint="Id, whole email, or part of a name"
      />
      <PagedTable
        label="Customers, newest first"
        pages={pages}
        fits={({ id, email, name, phone }) =>
          `${id} ${email} ${name ?? ""} ${phone ?? ""}`.toLowerCase().includes(wanted)
        }
        empty={
          <Empty title={search === "" ? "No customers yet." : "No customer fits."}>
            <p>
              {search === ""
                ? "Create one here, or with POST /v1/customers."
                : "A whole email address is looked for among all customers, other text among those that were read."}
            </p>
          </Empty>
        }
        columns={[
          { label: "Email", cell: ({ id, email }) => <Link href={hrefOf("customers", id)}>{email}</Link> },
          { label: "Name", cell: ({ name }) => name ?? <span class="soft">–</span> },
          { label: "Id", from: "tablet", cell: ({ id }) => <code>{id}</code> },
          { label: "Created", from: "tablet", cell: ({ created }) => <Time at={created} /> },
        ]}
      />
    </Page>
  );
}
