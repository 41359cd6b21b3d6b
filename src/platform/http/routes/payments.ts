import {
  Payment,
  PaymentCreate,
  PaymentFail,
  PaymentList,
  PaymentListQuery,
} from "../../../contract/schemas/payment.ts";
import { createPayment, failPayment, getPayment, pageOfPayments, succeedPayment } from "../../domain/payments.ts";
import type { Vault } from "../../vault.ts";
import { answerList, asJson } from "../list.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";

export function paymentOperations(vault: Vault): Operation[] {
  return [
    writeOperation({
      name: "createPayment",
      summary: "Create a payment",
      method: "POST",
      path: "/v1/payments",
      additive: true,
      scope: "payments:write",
      body: PaymentCreate,
      reply: { status: 201, schema: Payment },
      write: ({ body }, tx, occasion) => createPayment(tx, occasion, body),
    }),
    readOperation({
      name: "listPayments",
      summary: "List payments, newest first",
      method: "GET",
      path: "/v1/payments",
      scope: "payments:read",
      query: PaymentListQuery,
      reply: { status: 200, schema: PaymentList },
      read: (call, queries) =>
        answerList(
          vault,
          "payment",
          call,
          (page) => pageOfPayments(queries, call.caller.tenant, page, call.query),
          asJson,
        ),
    }),
    readOperation({
      name: "getPayment",
      summary: "Retrieve a payment",
      method: "GET",
      path: "/v1/payments/{id}",
      scope: "payments:read",
      reply: { status: 200, schema: Payment },
      read: ({ caller, id }, queries) => getPayment(queries, caller.tenant, id),
    }),
    writeOperation({
      name: "succeedPayment",
      summary: "Let a pending payment succeed",
      method: "POST",
      path: "/v1/payments/{id}/succeed",
      scope: "payments:write",
      refusals: ["invalid_transition"],
      reply: { status: 200, schema: Payment },
      write: ({ id }, tx, occasion) => succeedPayment(tx, occasion, id),
    }),
    writeOperation({
      name: "failPayment",
      summary: "Let a pending payment fail",
      method: "POST",
      path: "/v1/payments/{id}/fail",
      scope: "payments:write",
      body: PaymentFail,
      refusals: ["invalid_transition"],
      reply: { status: 200, schema: Payment },
      write: ({ id, body }, tx, occasion) => failPayment(tx, occasion, id, body),
    }),
  ];
}
