import type { Command } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { EventReplay, Replay } from "../../../contract/schemas/event.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { printable } from "../../terminal/printable.ts";
import type { ResourceView } from "../../terminal/view.ts";
import { addIdempotencyKey } from "../resource/idempotency-key.ts";
import { EVENTS } from "./view.ts";

interface Flags {
  endpoint?: string;
  idempotencyKey?: string;
}

const REPLAY: ResourceView<Replay> = {
  noun: "replay",
  plural: "replays",
  fields: ["object", "event", "deliveries"],
  columns: [],
  details: [
    { label: "Event", text: ({ event }) => event },
    { label: "Deliveries", text: ({ deliveries }, { terminal }) => deliveries.join(terminal ? " " : ",") },
  ],
};

export function registerReplay(events: Command, context: Context): void {
  const replay = events
    .command("replay")
    .description("Replay an event of the last 30 days to endpoints and listeners")
    .argument("<id>", "ID of the event", objectId)
    .option("--endpoint <id>", "Replay to this webhook endpoint and to listeners only", objectId);
  addIdempotencyKey(replay).action((id: string, flags: Flags) => runReplay(id, flags, context));
  addExamples(addFields(replay, REPLAY), [
    `service events replay ${EVENTS.exampleId}`,
    `service events replay ${EVENTS.exampleId} --endpoint we_4Vf8aTqz0bKm2sNw9XyRcd`,
  ]);
}

async function runReplay(id: string, { endpoint, idempotencyKey }: Flags, context: Context): Promise<void> {
  const { output } = context;
  const client = await context.client();
  const { body } = await client.request<Replay>({
    method: "POST",
    path: EVENTS.path + apiPath`/${id}/replay`,
    body: (endpoint === undefined ? {} : { endpoint }) satisfies EventReplay,
    idempotencyKey,
  });
  // A replay has no id of its own; what it made has.
  if (output.quiet && !output.json) {
    for (const delivery of body.deliveries) output.line(printable(delivery));
    return;
  }
  const { length: count } = body.deliveries;
  output.success(`Replayed ${id} to ${count} ${count === 1 ? "endpoint" : "endpoints"}`);
  await output.object(body, REPLAY);
  if (count === 0)
    return output.note("\nNo enabled endpoint subscribes to this event type; listeners still receive the event.");
  output.note(`\nSee the deliveries:\n  service deliveries list --event ${id}`);
}
