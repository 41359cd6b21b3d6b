import { type Static, Type } from "typebox";
import {
  Amount,
  CREATED_FILTERS,
  closed,
  Currency,
  listOf,
  listQuery,
  Metadata,
  MetadataInput,
  nullable,
  Timestamp,
} from "./fields.ts";

export const ORDER_STATUSES = ["pending", "completed", "canceled"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Platform specification 2, Order; decisions 3. */
export const Order = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("order"),
    amount: Amount,
    currency: Currency,
    status: Type.Enum([...ORDER_STATUSES]),
    customer: nullable(Type.String()),
    metadata: Metadata,
    livemode: Type.Boolean(),
    created: Timestamp,
  },
  { $id: "Order" },
);
export type Order = Static<typeof Order>;

export const OrderCreate = closed(
  {
    amount: Amount,
    currency: Currency,
    customer: Type.Optional(nullable(Type.String({ format: "customer-id" }))),
    metadata: Type.Optional(MetadataInput),
  },
  { $id: "OrderCreate" },
);
export type OrderCreate = Static<typeof OrderCreate>;

export const OrderListQuery = listQuery({
  customer: Type.Optional(Type.String({ format: "customer-id" })),
  status: Type.Optional(Type.Enum([...ORDER_STATUSES])),
  ...CREATED_FILTERS,
});
export type OrderListQuery = Static<typeof OrderListQuery>;

export const OrderList = listOf(Order, "OrderList");
