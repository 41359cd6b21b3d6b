import { type Command, Option } from "commander";
import { statusesOf } from "../../../contract/resources.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { registerAction } from "../resource/action.ts";
import { registerList } from "../resource/list.ts";
import { registerGet } from "./get.ts";
import { DELIVERIES } from "./view.ts";

/** `service deliveries`. */
export function register(program: Command, context: Context): void {
  const deliveries = program.command("deliveries").description("Inspect deliveries and retry them");
  addExamples(deliveries, [
    "service deliveries list --status failed",
    `service deliveries get ${DELIVERIES.exampleId}`,
    `service deliveries retry ${DELIVERIES.exampleId}`,
  ]);
  registerList(deliveries, context, DELIVERIES, {
    filters: [
      new Option("--endpoint <id>", "Filter by webhook endpoint").argParser(objectId),
      new Option("--event <id>", "Filter by event").argParser(objectId),
      new Option("--status <status>", "Filter by status").choices(statusesOf("delivery")),
    ],
    examples: [
      "service deliveries list --status failed",
      "service deliveries list --event evt_4Vf8aTqz0bKm2sNw9XyRcd",
      "service deliveries list --endpoint we_4Vf8aTqz0bKm2sNw9XyRcd --status pending --json",
    ],
  });
  registerGet(deliveries, context);
  registerAction(deliveries, context, DELIVERIES, {
    verb: "retry",
    done: (id) => `Retrying delivery ${id}`,
    description: "Retry a failed or pending delivery now",
  });
}
