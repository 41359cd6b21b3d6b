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

const PAYMENT_STATUSES = ["pending", "succeeded", "failed"] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** What a payment that failed without a stated reason carries. */
export const DEFAULT_FAILURE_CODE = "card_declined";

/** Decisions 3, Payment. */
export const Payment = Type.Object(
  {
    id: idOf("payment"),
    object: Type.Literal("payment"),
    amount: Amount,
    currency: Currency,
    status: Type.Enum([...PAYMENT_STATUSES]),
    order: nullable(idOf("order")),
    failure_code: nullable(Type.String({ description: "Why it failed; null unless it did" })),
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
  { $id: "PaymentCreate", description: "A payment to be created, pending at first" },
);
export type PaymentCreate = Static<typeof PaymentCreate>;

export const PaymentFail = closed(
  {
    failure_code: Type.Optional(
      Type.String({ pattern: "^[a-z][a-z0-9_]{0,63}$", description: "snake_case", examples: [DEFAULT_FAILURE_CODE] }),
    ),
  },
  { $id: "PaymentFail", description: "Why the payment fails" },
);
export type PaymentFail = Static<typeof PaymentFail>;

export const PaymentListQuery = listQuery({
  order: Type.Optional(idOf("order", { description: "Payments of this order" })),
  status: Type.Optional(Type.Enum([...PAYMENT_STATUSES])),
  ...CREATED_FILTERS,
});
export type PaymentListQuery = Static<typeof PaymentListQuery>;

export const PaymentList = listOf(Payment, "PaymentList");
