import type { Customer } from "../../../contract/schemas/customer.ts";
import type { Column } from "../../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID, METADATA } from "../resource/columns.ts";
import type { Resource } from "../resource/resource.ts";

const EMAIL: Column<Customer> = { label: "Email", text: ({ email }) => email, shrinks: true };
const NAME: Column<Customer> = { label: "Name", text: ({ name }) => name ?? "", shrinks: true, optional: true };
const PHONE: Column<Customer> = { label: "Phone", text: ({ phone }) => phone ?? "" };

export const CUSTOMERS: Resource<Customer> = {
  path: "/v1/customers",
  command: "customers",
  exampleId: "cus_4Vf8aTqz0bKm2sNw9XyRcd",
  view: {
    noun: "customer",
    plural: "customers",
    fields: ["id", "object", "email", "name", "phone", "metadata", "livemode", "created"],
    columns: [ID, EMAIL, NAME, CREATED],
    details: [ID, EMAIL, NAME, PHONE, METADATA, ENVIRONMENT, CREATED_AT],
  },
};
