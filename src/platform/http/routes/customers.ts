import {
  Customer,
  CustomerCreate,
  CustomerList,
  CustomerListQuery,
  CustomerUpdate,
  DeletedCustomer,
} from "../../../contract/schemas/customer.ts";
import {
  changeCustomer,
  createCustomer,
  getCustomer,
  pageOfCustomers,
  removeCustomer,
} from "../../domain/customers.ts";
import type { Vault } from "../../vault.ts";
import { answerList, asJson } from "../list.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

export function customerOperations(vault: Vault): Operation[] {
  return [
    writeOperation({
      name: "createCustomer",
      summary: "Create a customer",
      method: "POST",
      path: "/v1/customers",
      additive: true,
      scope: "customers:write",
      body: CustomerCreate,
      refusals: ["email_taken"],
      reply: { status: 201, schema: Customer },
      write: ({ body }, tx, occasion) => createCustomer(tx, occasion, body),
    }),
    readOperation({
      name: "listCustomers",
      summary: "List customers, newest first",
      method: "GET",
      path: "/v1/customers",
      scope: "customers:read",
      query: CustomerListQuery,
      reply: { status: 200, schema: CustomerList },
      read: (call, queries) =>
        answerList(
          vault,
          "customer",
          call,
          (page) => pageOfCustomers(queries, call.caller.tenant, page, call.query),
          asJson,
        ),
    }),
    readOperation({
      name: "getCustomer",
      summary: "Retrieve a customer",
      method: "GET",
      path: "/v1/customers/{id}",
      scope: "customers:read",
      reply: { status: 200, schema: Customer },
      read: ({ caller, id }, queries) => getCustomer(queries, caller.tenant, id),
    }),
    writeOperation({
      name: "updateCustomer",
      summary: "Update a customer; metadata is merged",
      method: "PATCH",
      path: "/v1/customers/{id}",
      scope: "customers:write",
      body: CustomerUpdate,
      refusals: ["email_taken"],
      reply: { status: 200, schema: Customer },
      write: ({ id, body }, tx, occasion) => changeCustomer(tx, occasion, id, body),
    }),
    writeOperation({
      name: "deleteCustomer",
      summary: "Delete a customer",
      method: "DELETE",
      path: "/v1/customers/{id}",
      scope: "customers:write",
      reply: { status: 200, schema: DeletedCustomer },
      write: ({ id }, tx, occasion) => removeCustomer(tx, occasion, id),
    }),
  ];
}
