import { type Command, Option } from "commander";
import { EVENT_TYPES } from "../../../contract/event-types.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { registerGet } from "../resource/get.ts";
import { createdFilters, registerList } from "../resource/list.ts";
import { registerReplay } from "./replay.ts";
import { registerTail } from "./tail.ts";
import { EVENTS } from "./view.ts";

/** `service events`. */
export function register(program: Command, context: Context): void {
  const events = program.command("events").description("List, follow and replay events");
  addExamples(events, [
    "service events list --type 'order.*' --created-after 1h",
    `service events replay ${EVENTS.exampleId}`,
    "service events tail --events 'payment.*'",
  ]);
  registerList(events, context, EVENTS, {
    filters: [
      new Option("--type <subscription>", `Filter by event type: ${EVENT_TYPES[4]}, 'order.*', or '*'`),
      new Option("--related <id>", "Filter by object").argParser(objectId),
      ...createdFilters(context),
    ],
    examples: [
      "service events list --type 'payment.*'",
      "service events list --related ord_4Vf8aTqz0bKm2sNw9XyRcd",
      "service events list --json --jq '.[] | {id, type}'",
    ],
  });
  registerGet(events, context, EVENTS);
  registerReplay(events, context);
  registerTail(events, context);
}
