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

export const PAYMENT_STATUSES = ["pending", "succeeded", "failed"] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** What a payment that failed without a stated reason carries. */
export const DEFAULT_FAILURE_CODE = "card_declined";

/** Decisions 3, Payment. */
export const Payment = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("payment"),
    amount: Amount,
    currency: Currency,
    status: Type.Enum([...PAYMENT_STATUSES]),
    order: nullable(Type.String()),
    failure_code: nullable(Type.String()),
    metadata: Metadata,
    livemode: Type.Boolean(),
    created: Timestamp,
  },
  { $id: "Payment" },
);
export type Payment = Static<typeof Payment>;

export const PaymentCreate = closed(
  {
    amount: Amount,
    currency: Currency,
    order: Type.Optional(nullable(Type.String({ format: "order-id" }))),
    metadata: Type.Optional(MetadataInput),
  },
  { $id: "PaymentCreate" },
);
export type PaymentCreate = Static<typeof PaymentCreate>;

export const PaymentFail = closed(
  { failure_code: Type.Optional(Type.String({ pattern: "^[a-z][a-z0-9_]{0,63}$", description: "snake_case" })) },
  { $id: "PaymentFail" },
);
export type PaymentFail = Static<typeof PaymentFail>;

export const PaymentListQuery = listQuery({
  order: Type.Optional(Type.String({ format: "order-id" })),
  status: Type.Optional(Type.Enum([...PAYMENT_STATUSES])),
  ...CREATED_FILTERS,
});
export type PaymentListQuery = Static<typeof PaymentListQuery>;

export const PaymentList = listOf(Payment, "PaymentList");
