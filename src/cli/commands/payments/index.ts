import { type Command, Option } from "commander";
import type { Payment, PaymentFail } from "../../../contract/schemas/payment.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { wholeNumber } from "../../arguments/numbers.ts";
import { registerAction } from "../resource/action.ts";
import { registerCreate } from "../resource/create.ts";
import { registerGet } from "../resource/get.ts";
import { createdFilters, registerList } from "../resource/list.ts";
import { PAYMENTS } from "./view.ts";

const STATUSES: readonly Payment["status"][] = ["pending", "succeeded", "failed"];

/** `service payments`. */
export function register(program: Command, context: Context): void {
  const payments = program.command("payments").description("Create payments; let them succeed or fail.");
  addExamples(payments, [
    "service payments create --amount 1999 --currency EUR",
    `service payments fail ${PAYMENTS.exampleId} --failure-code insufficient_funds`,
  ]);
  registerCreate(payments, context, PAYMENTS, {
    options: [
      new Option("--amount <number>", "Amount in the currency's minor unit: 1999 is 19.99 EUR")
        .argParser(wholeNumber(0))
        .makeOptionMandatory(),
      new Option("--currency <code>", "Currency code (ISO 4217), such as EUR")
        .argParser((text) => text.toUpperCase())
        .makeOptionMandatory(),
      new Option("--order <id>", "Id of the order that it pays").argParser(objectId),
    ],
    examples: ["service payments create --amount 1999 --currency EUR --order ord_4Vf8aTqz0bKm2sNw9XyRcd"],
  });
  registerAction(payments, context, PAYMENTS, {
    verb: "succeed",
    past: "Settled",
    description: "Let a pending payment succeed",
  });
  registerAction(payments, context, PAYMENTS, {
    verb: "fail",
    past: "Failed",
    description: "Let a pending payment fail",
    options: [new Option("--failure-code <code>", "Why it fails, in snake_case (default: card_declined)")],
    body: ({ failureCode }: { failureCode?: string }): PaymentFail =>
      failureCode === undefined ? {} : { failure_code: failureCode },
  });
  registerList(payments, context, PAYMENTS, {
    filters: [
      new Option("--order <id>", "Only those of this order").argParser(objectId),
      new Option("--status <status>", "Only those of this status").choices(STATUSES),
      ...createdFilters(context),
    ],
    examples: [
      "service payments list --status failed --created-after 1d",
      "service payments list --order ord_4Vf8aTqz0bKm2sNw9XyRcd",
    ],
  });
  registerGet(payments, context, PAYMENTS);
}
