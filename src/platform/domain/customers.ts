import type { Customer, CustomerCreate, CustomerListQuery, CustomerUpdate } from "../../contract/schemas/customer.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import {
  type CustomerRow,
  deleteCustomer,
  findCustomer,
  findCustomerByEmail,
  insertCustomer,
  listCustomers,
  updateCustomer,
} from "../storage/customers.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import type { PageRequest } from "../storage/page.ts";
import { ApiError, shorten } from "./api-error.ts";
import { emit } from "./events.ts";
import { mergeMetadata, parseMetadata } from "./metadata.ts";
import { assertId, missing } from "./missing.ts";
import type { Occasion, Tenant } from "./occasion.ts";

/** Platform specification 4.1: the email is unique in the environment, compared without regard to case. */
export async function createCustomer(tx: Transaction, occasion: Occasion, input: CustomerCreate): Promise<Customer> {
  const row: CustomerRow = {
    environment: occasion.tenant.environment,
    id: occasion.newId("customer"),
    email: input.email,
    email_key: emailKey(input.email),
    name: input.name ?? null,
    phone: input.phone ?? null,
    metadata: JSON.stringify(input.metadata ?? {}),
    created: occasion.now,
  };
  if (!(await insertCustomer(tx, row))) throw await emailTaken(tx, row);
  const customer = toCustomer(row, occasion.tenant);
  await emit(tx, occasion, { type: "customer.created", object: customer });
  return customer;
}

/** Changes what is given; metadata is merged. An update that changes nothing emits nothing. */
export async function changeCustomer(
  tx: Transaction,
  occasion: Occasion,
  id: string,
  input: CustomerUpdate,
): Promise<Customer> {
  const { tenant } = occasion;
  const before = await existing(tx, tenant, id);
  const after: CustomerRow = { ...before };
  if (input.email !== undefined) {
    after.email = input.email;
    after.email_key = emailKey(input.email);
  }
  if (input.name !== undefined) after.name = input.name;
  if (input.phone !== undefined) after.phone = input.phone;
  if (input.metadata !== undefined) {
    after.metadata = JSON.stringify(mergeMetadata(parseMetadata(before.metadata), input.metadata));
  }
  const customer = toCustomer(after, tenant);
  const previous = changedFields(toCustomer(before, tenant), customer);
  if (Object.keys(previous).length === 0) return customer;
  if (after.email_key !== before.email_key && (await findCustomerByEmail(tx, tenant.environment, after.email_key))) {
    throw await emailTaken(tx, after);
  }
  await updateCustomer(tx, after);
  await emit(tx, occasion, { type: "customer.updated", object: customer, previous });
  return customer;
}

export async function removeCustomer(tx: Transaction, occasion: Occasion, id: string) {
  const row = await existing(tx, occasion.tenant, id);
  await deleteCustomer(tx, occasion.tenant.environment, id);
  await emit(tx, occasion, { type: "customer.deleted", object: toCustomer(row, occasion.tenant) });
  return { id, object: "customer" as const, deleted: true as const };
}

export async function getCustomer(queries: Queries, tenant: Tenant, id: string): Promise<Customer> {
  return toCustomer(await existing(queries, tenant, id), tenant);
}

export async function pageOfCustomers(
  queries: Queries,
  tenant: Tenant,
  page: PageRequest,
  filters: CustomerListQuery,
): Promise<Customer[]> {
  const email = filters.email === undefined ? undefined : emailKey(filters.email);
  return (await listCustomers(queries, page, email)).map((row) => toCustomer(row, tenant));
}

async function existing(queries: Queries, tenant: Tenant, id: string): Promise<CustomerRow> {
  assertId("customer", id);
  return (await findCustomer(queries, tenant.environment, id)) ?? missing("customer", id);
}

function toCustomer(row: CustomerRow, tenant: Tenant): Customer {
  return {
    id: row.id,
    object: "customer",
    email: row.email,
    name: row.name,
    phone: row.phone,
    metadata: parseMetadata(row.metadata),
    livemode: tenant.livemode,
    created: formatTimestamp(row.created),
  };
}

/** The old values of the fields whose value changed; of metadata, the old value of each changed key. */
function changedFields(before: Customer, after: Customer): Record<string, unknown> {
  const previous: Record<string, unknown> = {};
  for (const field of ["email", "name", "phone"] as const) {
    if (before[field] !== after[field]) previous[field] = before[field];
  }
  // Maps, since a key may be called like what every object inherits.
  const [old, current] = [new Map(Object.entries(before.metadata)), new Map(Object.entries(after.metadata))];
  const changed = [...new Set([...old.keys(), ...current.keys()])].filter((key) => old.get(key) !== current.get(key));
  if (changed.length > 0) {
    previous["metadata"] = Object.fromEntries(changed.map((key) => [key, old.get(key) ?? null]));
  }
  return previous;
}

async function emailTaken(tx: Transaction, row: CustomerRow): Promise<ApiError> {
  const holder = await findCustomerByEmail(tx, row.environment, row.email_key);
  const errors = [{ pointer: "/email", code: "taken", detail: "another customer has this email" }];
  return new ApiError(
    "email_taken",
    `The email ${shorten(row.email)} belongs to customer ${holder?.id ?? "(unknown)"}.`,
    {
      members: { existing: holder?.id ?? null, errors },
    },
  );
}

function emailKey(email: string): string {
  return email.toLowerCase();
}
