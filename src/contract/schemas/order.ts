import { type Static, Type } from "typebox";
import { statusesOf } from "../resources.ts";
import {
  Amount,
  closed,
  CREATED_FILTERS,
  Currency,
  idOf,
  listOf,
  listQuery,
  Livemode,
  Metadata,
  MetadataInput,
  nullable,
  Timestamp,
} from "./fields.ts";

export const Order = Type.Object(
  {
    id: idOf("order"),
    object: Type.Literal("order"),
    amount: Amount,
    currency: Currency,
    status: Type.Enum(statusesOf("order")),
    customer: nullable(idOf("customer")),
    metadata: Metadata,
    livemode: Livemode,
    created: Timestamp,
  },
  { $id: "Order", description: "An order" },
);
export type Order = Static<typeof Order>;

export const OrderCreate = closed(
  {
    amount: Amount,
    currency: Currency,
    customer: Type.Optional(nullable(idOf("customer"))),
    metadata: Type.Optional(MetadataInput),
  },
  { $id: "OrderCreate", description: "Parameters of a new order, initially pending" },
);
export type OrderCreate = Static<typeof OrderCreate>;

export const OrderListQuery = listQuery({
  customer: Type.Optional(idOf("customer", { description: "Orders of this customer" })),
  status: Type.Optional(Type.Enum(statusesOf("order"))),
  ...CREATED_FILTERS,
});
export type OrderListQuery = Static<typeof OrderListQuery>;

export const OrderList = listOf(Order, "OrderList");
