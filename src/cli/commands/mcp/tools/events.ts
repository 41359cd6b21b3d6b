import { EventListQuery, EventReplay } from "../../../../contract/schemas/event.ts";
import { closed, idOf } from "../../../../contract/schemas/fields.ts";
import { apiTool, type Tool } from "../tool.ts";

const Id = idOf("event", { description: "ID of an event, evt_…" });

export const EVENT_TOOLS: readonly Tool[] = [
  apiTool({
    name: "list_events",
    description: "List events, newest first. `type` takes wildcards such as order.*; `related` is the ID of an object.",
    scope: "events:read",
    effect: "reads",
    method: "GET",
    path: "/v1/events",
    input: EventListQuery,
  }),
  apiTool({
    name: "get_event",
    description: "Retrieve an event: the exact JSON that was delivered.",
    scope: "events:read",
    effect: "reads",
    method: "GET",
    path: "/v1/events/{id}",
    input: closed({ id: Id }),
  }),
  apiTool({
    name: "replay_event",
    description: "Replay an event of the last 30 days to all subscribed endpoints, or to one of them.",
    scope: "events:write",
    effect: "changes",
    method: "POST",
    path: "/v1/events/{id}/replay",
    input: closed({ id: Id, ...EventReplay.properties }),
  }),
];
