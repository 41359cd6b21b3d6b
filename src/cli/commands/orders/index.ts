import { type Command, Option } from "commander";
import type { Order } from "../../../contract/schemas/order.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { wholeNumber } from "../../arguments/numbers.ts";
import { registerAction } from "../resource/action.ts";
import { registerCreate } from "../resource/create.ts";
import { registerGet } from "../resource/get.ts";
import { createdFilters, registerList } from "../resource/list.ts";
import { ORDERS } from "./view.ts";

const STATUSES: readonly Order["status"][] = ["pending", "completed", "canceled"];

/** `service orders`. */
export function register(program: Command, context: Context): void {
  const orders = program.command("orders").description("Create orders; complete or cancel them.");
  addExamples(orders, [
    "service orders create --amount 1999 --currency EUR",
    `service orders complete ${ORDERS.exampleId}`,
    "service orders list --status pending",
  ]);
  registerCreate(orders, context, ORDERS, {
    options: [
      new Option("--amount <number>", "Amount in the currency's minor unit: 1999 is 19.99 EUR")
        .argParser(wholeNumber(0))
        .makeOptionMandatory(),
      new Option("--currency <code>", "Currency code (ISO 4217), such as EUR")
        .argParser((text) => text.toUpperCase())
        .makeOptionMandatory(),
      new Option("--customer <id>", "Id of the customer").argParser(objectId),
    ],
    examples: [
      "service orders create --amount 1999 --currency EUR",
      "service orders create --amount 500 --currency JPY --customer cus_4Vf8aTqz0bKm2sNw9XyRcd",
    ],
  });
  registerAction(orders, context, ORDERS, {
    verb: "complete",
    past: "Completed",
    description: "Complete a pending order",
  });
  registerAction(orders, context, ORDERS, { verb: "cancel", past: "Canceled", description: "Cancel a pending order" });
  registerList(orders, context, ORDERS, {
    filters: [
      new Option("--customer <id>", "Only those of this customer").argParser(objectId),
      new Option("--status <status>", "Only those of this status").choices(STATUSES),
      ...createdFilters(context),
    ],
    examples: ["service orders list --status pending", "service orders list --json --jq 'map(.amount) | add'"],
  });
  registerGet(orders, context, ORDERS);
}
