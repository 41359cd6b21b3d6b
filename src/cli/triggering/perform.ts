import { apiPath } from "../../client/base-url.ts";
import { ApiError } from "../../client/errors.ts";
import type { ApiRequest, Client, Method } from "../../client/http.ts";
import type { Page } from "../../client/pages.ts";
import type { EventType } from "../../contract/event-types.ts";
import { isId } from "../../contract/ids.ts";
import { kindsWith, pathOf, RESOURCES } from "../../contract/resources.ts";
import type { Event, ListedEvent } from "../../contract/schemas/event.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
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
export type TriggeredEvent = Pick<Event, "id" | "type" | "request">;

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

function removalOf(id: string): ApiRequest | undefined {
  const kind = kindsWith("prefix").find((known) => isId(known, id));
  if (kind === "api_key") return { method: "POST", path: apiPath`/v1/api_keys/${id}/revoke`, body: {} };
  if (kind === undefined || !("deletable" in RESOURCES[kind])) return undefined;
  return { method: "DELETE", path: pathOf(kind) + apiPath`/${id}` };
}

/** Maximum number of IDs named in a message; the rest are counted. */
const NAMED = 3;

/** Records what calls create, and removes it again. */
export class Cleanup {
  readonly #created = new Set<string>();

  /** Called after every successful call. */
  note({ method, status, id }: Call): void {
    if (method === "POST" && status === 201) this.#created.add(id);
    if (method === "DELETE") this.#created.delete(id);
  }

  /** Removes the created objects that can be removed, newest first, and reports the others. */
  async run(client: Client, context: Context): Promise<void> {
    const { output } = context;
    // A line for each of a thousand would hide the rest; a few need no progress bar.
    const areFew = this.#created.size <= NAMED;
    const bar = output.progress(areFew ? 0 : this.#created.size, "cleaned up");
    const stays: string[] = [];
    const failures: unknown[] = [];
    let removed = 0;
    for (const id of [...this.#created].reverse()) {
      const removal = removalOf(id);
      if (removal === undefined) {
        stays.push(id);
      } else {
        const started = context.now();
        const status = await remove(client, removal).catch((error: unknown) => void failures.push(error));
        if (status === undefined) continue;
        removed += 1;
        if (areFew && !output.json && !output.quiet) {
          const { method, path } = removal;
          output.line(callLine({ method, path, status, id, milliseconds: context.now() - started }, context));
        }
      }
      bar.advance();
    }
    bar.end();
    if (removed > 0) output.success(`Removed ${removed} of ${this.#created.size} created objects`);
    if (stays.length > 0)
      output.warn(
        `Not removed: ${namesOf(stays.reverse())}. The API cannot delete ${stays.length === 1 ? "it" : "them"}.`,
      );
    if (failures.length > 0)
      throw new UserError(`Could not remove ${failures.length} of ${this.#created.size} objects`, {
        cause: failures[0],
        hint: `First failure: ${failures[0] instanceof Error ? failures[0].message : String(failures[0])}`,
      });
  }
}

/** Another call may have removed it already. */
async function remove(client: Client, removal: ApiRequest): Promise<number> {
  try {
    return (await client.request(removal)).status;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return error.status;
    throw error;
  }
}

function namesOf(ids: readonly string[]): string {
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
  return ids.slice(0, NAMED).join(", ") + more;
}
