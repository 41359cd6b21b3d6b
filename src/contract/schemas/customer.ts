import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import {
  closed,
  CREATED_FILTERS,
  deleted,
  idOf,
  listOf,
  listQuery,
  Livemode,
  Metadata,
  MetadataInput,
  MetadataPatch,
  nullable,
  Timestamp,
} from "./fields.ts";

export const Customer = Type.Object(
  {
    id: idOf("customer"),
    object: Type.Literal("customer"),
    email: Type.String({ format: "email", description: "Unique per environment, ignoring case" }),
    name: nullable(Type.String({ examples: ["Ada Lovelace"] })),
    phone: nullable(Type.String({ format: "phone", description: "E.164" })),
    metadata: Metadata,
    livemode: Livemode,
    created: Timestamp,
  },
  { $id: "Customer", description: "A customer of the account" },
);
export type Customer = Static<typeof Customer>;

const Email = Type.String({ format: "email", maxLength: LIMITS.emailLength });
const Name = Type.String({ minLength: 1, maxLength: LIMITS.nameLength, examples: ["Ada Lovelace"] });
const Phone = Type.String({ format: "phone", description: "E.164, for example +442071838750" });

export const CustomerCreate = closed(
  {
    email: Email,
    name: Type.Optional(nullable(Name)),
    phone: Type.Optional(nullable(Phone)),
    metadata: Type.Optional(MetadataInput),
  },
  { $id: "CustomerCreate", description: "Parameters of a new customer" },
);
export type CustomerCreate = Static<typeof CustomerCreate>;

export const CustomerUpdate = closed(
  {
    email: Type.Optional(Email),
    name: Type.Optional(nullable(Name)),
    phone: Type.Optional(nullable(Phone)),
    metadata: Type.Optional(MetadataPatch),
  },
  { $id: "CustomerUpdate", description: "Fields to update; omitted fields do not change" },
);
export type CustomerUpdate = Static<typeof CustomerUpdate>;

export const CustomerListQuery = listQuery({
  email: Type.Optional(
    Type.String({ description: "Exact email address, ignoring case", examples: ["ada@example.com"] }),
  ),
  ...CREATED_FILTERS,
});
export type CustomerListQuery = Static<typeof CustomerListQuery>;

export const CustomerList = listOf(Customer, "CustomerList");
export const DeletedCustomer = deleted("customer", "DeletedCustomer");
