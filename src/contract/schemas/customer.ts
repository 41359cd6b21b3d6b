import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import {
  CREATED_FILTERS,
  closed,
  deleted,
  listOf,
  listQuery,
  Metadata,
  MetadataInput,
  MetadataPatch,
  nullable,
  Timestamp,
} from "./fields.ts";

/** Platform specification 2, Customer. */
export const Customer = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("customer"),
    email: Type.String(),
    name: nullable(Type.String()),
    phone: nullable(Type.String()),
    metadata: Metadata,
    livemode: Type.Boolean(),
    created: Timestamp,
  },
  { $id: "Customer" },
);
export type Customer = Static<typeof Customer>;

const Email = Type.String({ format: "email", maxLength: LIMITS.emailLength });
const Name = Type.String({ minLength: 1, maxLength: LIMITS.nameLength });
const Phone = Type.String({ format: "phone", description: "E.164, for example +442071838750" });

export const CustomerCreate = closed(
  {
    email: Email,
    name: Type.Optional(nullable(Name)),
    phone: Type.Optional(nullable(Phone)),
    metadata: Type.Optional(MetadataInput),
  },
  { $id: "CustomerCreate" },
);
export type CustomerCreate = Static<typeof CustomerCreate>;

export const CustomerUpdate = closed(
  {
    email: Type.Optional(Email),
    name: Type.Optional(nullable(Name)),
    phone: Type.Optional(nullable(Phone)),
    metadata: Type.Optional(MetadataPatch),
  },
  { $id: "CustomerUpdate" },
);
export type CustomerUpdate = Static<typeof CustomerUpdate>;

export const CustomerListQuery = listQuery({ email: Type.Optional(Type.String()), ...CREATED_FILTERS });
export type CustomerListQuery = Static<typeof CustomerListQuery>;

export const CustomerList = listOf(Customer, "CustomerList");
export const DeletedCustomer = deleted("customer", "DeletedCustomer");
