import type { Payment } from "../../../contract/schemas/payment.ts";
import type { Column } from "../../terminal/view.ts";
import { AMOUNT, CREATED, CREATED_AT, CURRENCY, ENVIRONMENT, ID, METADATA, statusColumn } from "../resource/columns.ts";
import type { Resource } from "../resource/resource.ts";

const ORDER: Column<Payment> = { label: "Order", text: ({ order }) => order ?? "" };
const FAILURE: Column<Payment> = { label: "Failure code", text: ({ failure_code }) => failure_code ?? "" };
const STATUS = statusColumn<Payment["status"]>({ succeeded: "good", failed: "bad" });

export const PAYMENTS: Resource<Payment> = {
  path: "/v1/payments",
  command: "payments",
  exampleId: "pay_4Vf8aTqz0bKm2sNw9XyRcd",
  view: {
    noun: "payment",
    plural: "payments",
    fields: [
      "id",
      "object",
      "amount",
      "currency",
      "status",
      "order",
      "failure_code",
      "metadata",
      "livemode",
      "created",
    ],
    columns: [ID, STATUS, AMOUNT, CURRENCY, { ...ORDER, optional: true }, { ...FAILURE, optional: true }, CREATED],
    details: [ID, STATUS, AMOUNT, CURRENCY, ORDER, FAILURE, METADATA, ENVIRONMENT, CREATED_AT],
  },
};
