import type { Client, Method } from "../../client/http.ts";
import type { Page } from "../../client/pages.ts";
import type { EventType } from "../../contract/event-types.ts";
import type { Event, ListedEvent } from "../../contract/schemas/event.ts";
import type { Context } from "../context.ts";
import { printable } from "../terminal/printable.ts";
import { formatDuration } from "../terminal/time.ts";
import type { Step } from "./recipes.ts";

/** One completed call, for output. */
export interface Call {
  method: Method;
  path: string;
  status: number;
  id: string;
  milliseconds: number;
}

/** An event that calls caused. */
export type TriggeredEvent = Pick<Event, "id">;

/** The result of one trigger. `subject` is the object's ID, or the event itself if the API returned it. */
interface Outcome {
  subject: string;
  event: Event | undefined;
}

/** Makes the calls of a plan in order. `unique` distinguishes this one, as in an email address. */
export async function perform(
  client: Client,
  steps: readonly Step[],
  { unique, onCall, now }: { unique: string; onCall: (call: Call) => void; now: () => number },
): Promise<Outcome> {
  let subject = "";
  let event: Event | undefined;
  for (const step of steps) {
    const path = step.path(subject);
    const started = now();
    const { status, body } = await client.request<{ id: string; object: string }>({
      method: step.method,
      path,
      ...(step.body === undefined ? {} : { body: step.body(unique, subject) }),
    });
    onCall({ method: step.method, path, status, id: body.id, milliseconds: now() - started });
    subject = body.id;
    if (body.object === "event") event = body as unknown as Event;
  }
  return { subject, event };
}

/** Returns the event that the calls caused: the newest of its type about the object. */
export async function findEvent(
  client: Client,
  type: EventType,
  { subject, event }: Outcome,
): Promise<Event | undefined> {
  if (event !== undefined) return event;
  const { body } = await client.request<Page<ListedEvent>>({
    method: "GET",
    path: "/v1/events",
    query: { related: subject, type, limit: 1 },
  });
  const [newest] = body.data;
  return newest?.data === null ? undefined : newest;
}

/** Renders one completed call; tab-separated in a pipe. */
export function callLine({ method, path, status, id, milliseconds }: Call, { output }: Context): string {
  if (!output.terminal) return [method, printable(path), status, printable(id)].join("\t");
  const { styles } = output;
  const created = id === "" || path.includes(id) ? [] : [styles.accent(printable(id))];
  return [
    styles.good(String(status)),
    `${styles.strong(method)} ${printable(path)}`,
    ...created,
    styles.dim(formatDuration(milliseconds)),
  ].join("  ");
}
