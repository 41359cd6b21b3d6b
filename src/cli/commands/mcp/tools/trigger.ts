import { Type } from "typebox";
import { EVENT_TYPES } from "../../../../contract/event-types.ts";
import { kindsWith, RESOURCES } from "../../../../contract/resources.ts";
import { Event } from "../../../../contract/schemas/event.ts";
import { closed } from "../../../../contract/schemas/fields.ts";
import { UserError } from "../../../errors.ts";
import { findEvent, perform } from "../../trigger/perform.ts";
import { planSteps } from "../../trigger/recipes.ts";
import { ownTool, type Tool } from "../tool.ts";

const MAX_EVENTS = 100;

export const TRIGGER_TOOLS: readonly Tool[] = [
  ownTool({
    name: "trigger_event",
    description:
      "Trigger an event through the API calls that an application would make: order.completed creates an order and completes it. Returns the event, or a list if count is more than 1.",
    scopes: [
      [...kindsWith("fields").map((kind) => `${RESOURCES[kind].plural}:write` as const), "events:write"],
      ["events:read"],
    ],
    effect: "changes",
    output: Type.Object({}, { anyOf: [Event, Type.Object({ object: Type.Literal("list"), data: Type.Array(Event) })] }),
    input: closed({
      type: Type.Enum([...EVENT_TYPES]),
      overrides: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Fields of the object by dotted path: {"amount": 500, "metadata.plan": "pro"}',
        }),
      ),
      data: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { description: "Complete data.object, instead of a real object" }),
      ),
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_EVENTS, default: 1 })),
    }),
    async run({ type, overrides = {}, data, count = 1 }, { client, now, uuid, progress }) {
      const pairs = Object.entries(overrides).map(([path, value]) => [path, JSON.stringify(value)] as const);
      const steps = planSteps(type, pairs, data);
      const events: Event[] = [];
      while (events.length < count) {
        const unique = uuid().slice(0, 8);
        const outcome = await perform(client, steps, { unique, onCall: () => {}, now });
        const event = await findEvent(client, type, outcome);
        if (event === undefined)
          throw new UserError(`The API calls succeeded, but no ${type} event of ${outcome.subject} was found`);
        events.push(event);
        progress(events.length, count, type);
      }
      return count === 1 ? events[0]! : { object: "list", data: events };
    },
  }),
];
