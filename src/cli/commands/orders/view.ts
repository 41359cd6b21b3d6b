import type { Order } from "../../../contract/schemas/order.ts";
import type { Column } from "../../terminal/view.ts";
import { AMOUNT, CREATED, CREATED_AT, CURRENCY, ENVIRONMENT, ID, METADATA, statusColumn } from "../resource/columns.ts";
import type { Resource } from "../resource/resource.ts";

const CUSTOMER: Column<Order> = { label: "Customer", text: ({ customer }) => customer ?? "" };
const STATUS = statusColumn<Order["status"]>({ completed: "good", canceled: "dim" });

export const ORDERS: Resource<Order> = {
  path: "/v1/orders",
  command: "orders",
  exampleId: "ord_4Vf8aTqz0bKm2sNw9XyRcd",
  view: {
    noun: "order",
    plural: "orders",
    fields: ["id", "object", "amount", "currency", "status", "customer", "metadata", "livemode", "created"],
    columns: [ID, STATUS, AMOUNT, CURRENCY, { ...CUSTOMER, optional: true }, CREATED],
    details: [ID, STATUS, AMOUNT, CURRENCY, CUSTOMER, METADATA, ENVIRONMENT, CREATED_AT],
  },
};
