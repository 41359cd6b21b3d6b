import type { Order } from "../../../contract/schemas/order.ts";
import type { Payment } from "../../../contract/schemas/payment.ts";

/** An amount of money that waits and then ends in one of two ways: an order, or a payment. */
export type Amount = Order | Payment;

/** What the pages of orders and of payments differ in. */
export interface AmountKind {
  /** Of the dashboard, and below /v1 of the API. */
  page: "orders" | "payments";
  title: string;
  noun: "order" | "payment";
  statuses: readonly string[];
  /** Whom it belongs to: the API's field and filter. */
  owner: { name: "customer" | "order"; label: string; idPrefix: string };
}

export const ORDERS: AmountKind = {
  page: "orders",
  title: "Orders",
  noun: "order",
  statuses: ["pending", "completed", "canceled"],
  owner: { name: "customer", label: "Customer", idPrefix: "cus_" },
};

export const PAYMENTS: AmountKind = {
  page: "payments",
  title: "Payments",
  noun: "payment",
  statuses: ["pending", "succeeded", "failed"],
  owner: { name: "order", label: "Order", idPrefix: "ord_" },
};
