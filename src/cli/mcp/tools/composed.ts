import { setTimeout as delay } from "node:timers/promises";
import { Type } from "typebox";
import { ownTool, type Tool } from "../tool.ts";
import { findEvent, perform } from "../../triggering/perform.ts";
import { planSteps } from "../../triggering/recipes.ts";
import { explain } from "../../explanation.ts";
import { EXPLAINED } from "../../../explain/chain.ts";
import { UserError } from "../../errors.ts";
import { eventsAfter, newestEventId } from "../../../client/pages.ts";
import { ID_PREFIXES } from "../../../contract/ids.ts";
import { EVENT_TYPES, matchesSubscriptions } from "../../../contract/event-types.ts";
import { OBJECT_KINDS, RESOURCES } from "../../../contract/resources.ts";
import { Event } from "../../../contract/schemas/event.ts";
import { closed, idOf, nullable } from "../../../contract/schemas/fields.ts";

const MAX_EVENTS = 100;
const POLL_MILLISECONDS = 500;
/** How long a tool waits by default: most clients end a call after a minute. */
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

const Finding = Type.Object({
  code: Type.String(),
  subject: Type.String({ description: "ID of the affected object" }),
  summary: Type.String(),
  evidence: nullable(Type.String({ description: "What shows it, such as the receiver's response" })),
  action: nullable(Type.String({ description: "What to do; null if there is nothing to do" })),
  fix: nullable(Type.String({ description: "The command for it" })),
});

const objectOf = (description: string) => Type.Unsafe<object>({ type: "object", description });

const ExplanationSchema = Type.Object({
  object: Type.Literal("explanation"),
  id: Type.String(),
  kind: Type.String(),
  cause: nullable(Type.String({ description: "The code of the first finding" })),
  findings: Type.Array(Finding, { description: "Causes, most likely first" }),
  request: nullable(objectOf("The API request that caused it, as get_request_log returns it")),
  subject: nullable(objectOf("The object as it is now")),
  event: nullable(objectOf("The event, as get_event returns it")),
  deliveries: Type.Array(objectOf("A delivery, as get_delivery returns it")),
  operation: nullable(objectOf("The bulk operation")),
});

/** Tools that make several API calls. */
export const COMPOSED_TOOLS: readonly Tool[] = [
  ownTool({
    name: "trigger_event",
    group: "events",
    description:
      "Trigger an event through the API calls that an application would make: order.completed creates an order and completes it. Returns the event, or a list if count is more than 1.",
    scopes: [
      [...OBJECT_KINDS.map((kind) => `${RESOURCES[kind].plural}:write` as const), "events:write"],
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
  ownTool({
    name: "wait_for_event",
    group: "events",
    description:
      "Wait for an event of a type or about an object. Returns the first event after the call, or after the event in `after`, " +
      "even if it has already happened. If none happens in time, `event` is null: call again with the returned `after`.",
    scopes: [["events:read"]],
    effect: "reads",
    input: closed({
      type: Type.Optional(Type.String({ description: "An event type, or a wildcard such as order.* (default: any)" })),
      related: Type.Optional(Type.String({ description: "ID of the object that the event is about" })),
      after: Type.Optional(idOf("event", "Return only events after this event ID")),
      timeout_seconds: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_SECONDS,
          default: DEFAULT_SECONDS,
          description: "Maximum time to wait, in seconds",
        }),
      ),
    }),
    output: Type.Object({
      object: Type.Literal("wait"),
      event: nullable(Event),
      after: nullable(Type.String({ description: "Pass this as `after` in the next call" })),
    }),
    async run({ type, related, after, timeout_seconds: seconds = DEFAULT_SECONDS }, { client, signal, now, progress }) {
      // Rejects a type that does not exist.
      await client.request({ method: "GET", path: "/v1/events", query: { type, related, limit: 1 } });
      const isWanted = (event: Event) =>
        matchesSubscriptions([type ?? "*"], event.type) &&
        (related === undefined || event.data.object["id"] === related);
      const start = now();
      let position = after ?? (await newestEventId(client));
      for (;;) {
        let oldest: Event | undefined;
        let newest: string | undefined;
        for await (const event of eventsAfter(client, position)) {
          newest ??= event.id;
          if (event.data !== null && isWanted(event)) oldest = event;
        }
        if (oldest !== undefined) return { object: "wait", event: oldest, after: oldest.id };
        position = newest ?? position;
        const waited = (now() - start) / 1000;
        if (waited >= seconds) return { object: "wait", event: null, after: position ?? null };
        progress(waited, seconds, "Waiting for an event");
        await delay(POLL_MILLISECONDS, undefined, { signal });
      }
    },
  }),
  ownTool({
    name: "explain",
    group: "explain",
    description:
      `Explain an ID (${EXPLAINED.map((kind) => ID_PREFIXES[kind]).join(", ")}): its API request, object, event, ` +
      "deliveries and attempts, the likely cause of a failure as a stable code, and the command that fixes it.",
    scopes: [["events:read", "deliveries:read", "request_logs:read"]],
    effect: "reads",
    output: ExplanationSchema,
    input: closed({ id: Type.String({ description: "The ID to explain" }) }),
    run: async ({ id }, { client, runnable }) => (await explain(client, id, { runnable })).explanation,
  }),
];
