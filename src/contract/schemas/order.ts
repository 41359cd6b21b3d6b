import { type Static, Type } from "typebox";
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

const ORDER_STATUSES = ["pending", "completed", "canceled"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Platform specification 2, Order; decisions 3. */
export const Order = Type.Object(
  {
    id: idOf("order"),
    object: Type.Literal("order"),
    amount: Amount,
    currency: Currency,
    status: Type.Enum([...ORDER_STATUSES]),
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
  { $id: "OrderCreate", description: "An order to be created, pending at first" },
);
export type OrderCreate = Static<typeof OrderCreate>;

export const OrderListQuery = listQuery({
  customer: Type.Optional(idOf("customer", { description: "Orders of this customer" })),
  status: Type.Optional(Type.Enum([...ORDER_STATUSES])),
  ...CREATED_FILTERS,
});
export type OrderListQuery = Static<typeof OrderListQuery>;

export const OrderList = listOf(Order, "OrderList");
