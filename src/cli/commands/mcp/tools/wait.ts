import { setTimeout as delay } from "node:timers/promises";
import { Type } from "typebox";
import { listItems, type Page } from "../../../../client/pages.ts";
import { Event } from "../../../../contract/schemas/event.ts";
import { closed, idOf, nullable } from "../../../../contract/schemas/fields.ts";
import { ownTool, type Tool } from "../tool.ts";

const POLL_MILLISECONDS = 500;
/** Most clients give up a call after a minute. */
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

export const WAIT_TOOLS: readonly Tool[] = [
  ownTool({
    name: "wait_for_event",
    description:
      "Wait for an event of a type or about an object. Returns the first event after the call, or after the event in `after`, " +
      "even if it has already happened. If none happens in time, `event` is null: call again with the returned `after`.",
    scopes: [["events:read"]],
    effect: "reads",
    input: closed({
      type: Type.Optional(Type.String({ description: "An event type, or a wildcard such as order.* (default: any)" })),
      related: Type.Optional(Type.String({ description: "ID of the object that the event is about" })),
      after: Type.Optional(idOf("event", { description: "Return only events after this event ID" })),
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
      const query = { type, related };
      const start = now();
      const position = after ?? (await newestEvent());
      for (;;) {
        const event = await oldestAfter(position);
        if (event !== undefined) return { object: "wait", event, after: event.id };
        const waited = (now() - start) / 1000;
        if (waited >= seconds) return { object: "wait", event: null, after: position ?? null };
        progress(waited, seconds, "Waiting for an event");
        await delay(POLL_MILLISECONDS, undefined, { signal });
      }

      async function newestEvent(): Promise<string | undefined> {
        const path = "/v1/events";
        const { body } = await client.request<Page<Event>>({ method: "GET", path, query: { limit: 1 } });
        return body.data[0]?.id;
      }

      /** Lists are in commit order, so no event is missed. */
      async function oldestAfter(position: string | undefined): Promise<Event | undefined> {
        let oldest: Event | undefined;
        for await (const event of listItems<Event>(client, "/v1/events", { query })) {
          if (position !== undefined && event.id <= position) break;
          oldest = event;
        }
        return oldest;
      }
    },
  }),
];
