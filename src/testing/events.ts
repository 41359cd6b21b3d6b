import type { IncomingMessage } from "node:http";
import { valueAt } from "../contract/json.ts";
import type { WebhookEvent, WebhookEventType } from "../webhooks/index.ts";
import { type ApiClient, bodyOf, PlatformError, type Problem } from "./api.ts";
import { after, millisecondsOf } from "./time.ts";

type Where<Type extends WebhookEventType> =
  | Readonly<Record<string, unknown>>
  | ((event: WebhookEvent<Type>) => boolean)
  | undefined;

/** Seconds before any event: the stream starts with the first one of the sandbox. */
const EVER = 999_999_999;
const DATA = "data: ";
const NAME = "event: ";

/** The events of a sandbox since its start or last reset, each returned once. */
export class EventWatch {
  readonly #api: ApiClient;
  readonly #returned = new Set<string>();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  /** Resolves with the first matching event that was not returned yet. Rejects if there is none in time. */
  async next<Type extends WebhookEventType>(
    type: Type,
    where: Where<Type>,
    within: string,
  ): Promise<WebhookEvent<Type>> {
    const milliseconds = millisecondsOf(within);
    const stream = await this.#api.open("GET", `/v1/events/stream?after=-${EVER}`);
    if (stream.statusCode !== 200) throw new PlatformError("GET /v1/events/stream", (await bodyOf(stream)) as Problem);
    let isOver = false;
    const cancel = after(milliseconds, () => {
      isOver = true;
      stream.destroy();
    });
    const seen: WebhookEvent[] = [];
    try {
      for await (const event of eventsOf(stream)) {
        if (this.#returned.has(event.id)) continue;
        seen.push(event);
        if (event.type !== type || !matches(event as WebhookEvent<Type>, where)) continue;
        this.#returned.add(event.id);
        return event as WebhookEvent<Type>;
      }
    } catch (error) {
      if (!isOver) throw error;
    } finally {
      cancel();
      stream.destroy();
    }
    if (!isOver) throw new Error("The platform closed the stream of events");
    throw new Error(`No ${type}${conditionsOf(where)} within ${within}${explain(type, where, seen)}`);
  }
}

async function* eventsOf(stream: IncomingMessage): AsyncGenerator<WebhookEvent, void, undefined> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const messages = (text + (chunk as string)).split("\n\n");
    text = messages.pop()!;
    for (const message of messages) {
      const lines = message.split("\n");
      const data = lines.find((line) => line.startsWith(DATA));
      // Only events are messages without a name.
      if (data !== undefined && !lines.some((line) => line.startsWith(NAME))) {
        yield JSON.parse(data.slice(DATA.length)) as WebhookEvent;
      }
    }
  }
}

function matches<Type extends WebhookEventType>(event: WebhookEvent<Type>, where: Where<Type>): boolean {
  if (typeof where === "function") return where(event);
  return differencesOf(event, where).length === 0;
}

/** Returns the values that differ from the expected ones. */
function differencesOf(event: object, where: Readonly<Record<string, unknown>> = {}): string[] {
  return Object.entries(where).flatMap(([path, expected]) => {
    const actual = JSON.stringify(valueAt(event, path)) ?? "absent";
    return actual === JSON.stringify(expected) ? [] : [`${path} is ${actual}`];
  });
}

function conditionsOf(where: Where<never>): string {
  if (where === undefined) return "";
  if (typeof where === "function") return " for which `where` is true";
  return ` with ${Object.entries(where)
    .map(([path, value]) => `${path}=${JSON.stringify(value)}`)
    .join(" and ")}`;
}

/** Returns what arrived instead: how the nearest event of the type differs, or the other types. */
function explain(type: string, where: Where<never>, seen: readonly WebhookEvent[]): string {
  const ofType = seen.filter((event) => event.type === type);
  if (typeof where !== "function" && ofType.length > 0) {
    const all = ofType.map((event) => ({ id: event.id, differences: differencesOf(event, where) }));
    const { id, differences } = all.reduce((a, b) => (b.differences.length <= a.differences.length ? b : a));
    return `. Nearest: ${id}, whose ${differences.join(" and ")}`;
  }
  const counts = new Map<string, number>();
  for (const event of seen) counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
  if (counts.size === 0) return ". There were no other events";
  return `. Events that arrived: ${[...counts].map(([name, count]) => `${count} ${name}`).join(", ")}`;
}
