import { CustomerCreate, CustomerListQuery, CustomerUpdate } from "../../../../contract/schemas/customer.ts";
import { closed, idOf } from "../../../../contract/schemas/fields.ts";
import { apiTool, type Tool } from "../tool.ts";

const Id = idOf("customer", { description: "ID of a customer, cus_…" });

export const CUSTOMER_TOOLS: readonly Tool[] = [
  apiTool({
    name: "create_customer",
    description: "Create a customer. Emits customer.created.",
    scope: "customers:write",
    effect: "changes",
    method: "POST",
    path: "/v1/customers",
    input: CustomerCreate,
  }),
  apiTool({
    name: "list_customers",
    description: "List customers, newest first.",
    scope: "customers:read",
    effect: "reads",
    method: "GET",
    path: "/v1/customers",
    input: CustomerListQuery,
  }),
  apiTool({
    name: "get_customer",
    description: "Retrieve a customer.",
    scope: "customers:read",
    effect: "reads",
    method: "GET",
    path: "/v1/customers/{id}",
    input: closed({ id: Id }),
  }),
  apiTool({
    name: "update_customer",
    description: "Update a customer; metadata is merged. Emits customer.updated if something changed.",
    scope: "customers:write",
    effect: "changes",
    method: "PATCH",
    path: "/v1/customers/{id}",
    input: closed({ id: Id, ...CustomerUpdate.properties }),
  }),
  apiTool({
    name: "delete_customer",
    description: "Delete a customer. Emits customer.deleted.",
    scope: "customers:write",
    effect: "removes",
    method: "DELETE",
    path: "/v1/customers/{id}",
    input: closed({ id: Id }),
  }),
];
