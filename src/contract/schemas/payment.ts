import { type Static, Type } from "typebox";
import { RESOURCES, statusesOf } from "../resources.ts";
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

export const Payment = Type.Object(
  {
    id: idOf("payment"),
    object: Type.Literal("payment"),
    amount: Amount,
    currency: Currency,
    status: Type.Enum(statusesOf("payment")),
    order: nullable(idOf("order")),
    failure_code: nullable(Type.String({ description: "Reason of the failure; null unless the payment failed" })),
    metadata: Metadata,
    livemode: Livemode,
    created: Timestamp,
  },
  { $id: "Payment", description: "A payment" },
);
export type Payment = Static<typeof Payment>;

export const PaymentCreate = closed(
  {
    amount: Amount,
    currency: Currency,
    order: Type.Optional(nullable(idOf("order"))),
    metadata: Type.Optional(MetadataInput),
  },
  { $id: "PaymentCreate", description: "Parameters of a new payment, initially pending" },
);
export type PaymentCreate = Static<typeof PaymentCreate>;

export const PaymentFail = closed(
  {
    failure_code: Type.Optional(
      Type.String({
        pattern: "^[a-z][a-z0-9_]{0,63}$",
        description: "snake_case",
        examples: [RESOURCES.payment.actions.fail.takes.failure_code],
      }),
    ),
  },
  { $id: "PaymentFail", description: "Reason of the failure" },
);
export type PaymentFail = Static<typeof PaymentFail>;

export const PaymentListQuery = listQuery({
  order: Type.Optional(idOf("order", { description: "Payments of this order" })),
  status: Type.Optional(Type.Enum(statusesOf("payment"))),
  ...CREATED_FILTERS,
});
export type PaymentListQuery = Static<typeof PaymentListQuery>;

export const PaymentList = listOf(Payment, "PaymentList");
