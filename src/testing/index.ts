import { randomBytes, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { EventEnvelope, EventObjects, WebhookEvent, WebhookEventType } from "../webhooks/index.ts";
import { ApiClient, type Body } from "./api.ts";
import { EventWatch } from "./events.ts";
import { keysOf, type ReadyLine, startOwnCommand } from "./own-command.ts";
import { delay, millisecondsOf } from "./time.ts";
import { createIdGenerator } from "../contract/ids.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import EVENT_SAMPLES from "./event-samples.json" with { type: "json" };

export { PlatformError, type Problem } from "./api.ts";

export interface StartOptions {
  /** SQLite file or PostgreSQL URL to use instead of an empty temporary database. */
  database?: string;
  /** Port of the API (default: a free one). */
  port?: number;
  /** Fixture to send after the start, as `service trigger --fixture` does. */
  seed?: string;
  /** Called with each line of the platform's log, which is JSON: requests, deliveries, warnings. */
  log?: (line: string) => void;
}

export interface WaitOptions<Type extends WebhookEventType> {
  /** Values at paths of the event, such as `{ "data.object.amount": 1999 }`, or a function that returns true. */
  where?: Readonly<Record<string, unknown>> | ((event: WebhookEvent<Type>) => boolean);
  /** Maximum wait, such as `500ms` or `10s` (default: `5s`). */
  within?: string;
}

export interface ListenOptions {
  /** URL of the receiver, such as `http://localhost:3000/webhooks`. */
  forwardTo: string;
  /** Signing secret (default: one that the platform creates). */
  secret?: string;
}

/** Forwards events to a receiver until it is closed. */
export interface Listener extends AsyncDisposable {
  /** The secret that signs the forwarded events. */
  secret: string;
  /** Resolves once the listener has stopped. */
  close(): Promise<void>;
}

/** What happens to a request: one effect, and which part of the matching requests gets it. */
export interface FaultEffect {
  /** Respond with this error: 429, 500, 502 or 503. */
  status?: 429 | 500 | 502 | 503;
  /** Handle the request after this time, such as `2s`. */
  delay?: string;
  /** Close the connection before the request has an effect. */
  disconnect?: true;
  /** Close the connection after the request took effect, without a response. */
  loseResponse?: true;
  /** Close the connection after half of the response's body. */
  truncate?: true;
  /** Part of the matching requests, from 0 to 1 (default: 1). */
  rate?: number;
  /** Maximum number of requests (default: no limit). */
  times?: number;
}

/** Faults that requests to the sandbox get. `platform.request` gets them, too; a reset removes them. */
export interface Faults {
  /** Adds a fault for requests such as `POST /v1/orders*`, or a path alone for every method. Resolves with its ID. */
  add(request: string, effect: FaultEffect): Promise<string>;
  /** Removes all faults. */
  clear(): Promise<void>;
}

/** A platform in a process of its own. The process ends with this one, whatever kills it. */
export interface Platform extends AsyncDisposable {
  /** URL of the API, without a trailing slash. */
  baseUrl: string;
  /** A sandbox key with full access. */
  apiKey: string;
  /** A live key with full access. */
  liveKey: string;
  /** Environment variables with which the application and the command `service` use this platform. */
  env: Record<string, string>;
  /** Sends one API request with the sandbox key, without retries. Rejects with PlatformError for an error response. */
  request<Result = Body>(method: string, path: string, body?: object): Promise<Result>;
  /**
   * Resolves with the first event of the type that no earlier call returned, since the start or the last reset. Rejects
   * with the nearest event if there is none in time.
   */
  waitForEvent<Type extends WebhookEventType>(type: Type, options?: WaitOptions<Type>): Promise<WebhookEvent<Type>>;
  /** Forwards sandbox events to a receiver, as `service listen` does. Resolves once it is connected. */
  listen(options: ListenOptions): Promise<Listener>;
  /** Advances the sandbox's time, such as `3d` or `90s`. Resolves after all deliveries that fell due were attempted. */
  advance(duration: string): Promise<void>;
  /** Starts the sandbox again: without objects, events, deliveries and logs, in real time. */
  reset(): Promise<void>;
  /** Saves the objects, endpoints and time of the sandbox under a name. */
  save(name: string): Promise<void>;
  /** Replaces the sandbox by a saved state. */
  restore(name: string): Promise<void>;
  faults: Faults;
  /** Stops the platform and its listeners, and deletes its temporary database. */
  close(): Promise<void>;
}

/** Starts an empty platform on a free port. Resolves once it accepts requests; rejects with the reason if it cannot. */
export async function startPlatform(options: StartOptions = {}): Promise<Platform> {
  const { port = 0, seed, log } = options;
  const database = options.database?.replace(/^(?!postgres(ql)?:).*/s, (file) => resolve(file));
  const configDir = join(tmpdir(), `service-testing-${randomUUID()}`);
  const place = database === undefined ? ["--ephemeral"] : ["--database", database];
  const flags = ["--port", String(port), "--allow-private-targets", "--rate-limit", "0"];
  const level = log === undefined ? "error" : "info";
  const serve = startOwnCommand(
    ["serve", ...place, ...flags, "--log-level", level],
    { SERVICE_CONFIG_DIR: configDir },
    log,
  );
  const listeners = new Set<Listener>();
  const folders = [configDir];
  const close = async (): Promise<void> => {
    await Promise.all([...listeners].map((listener) => listener.close()));
    await serve.stop();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  };
  try {
    const ready = await serve.ready<ReadyLine>();
    // A platform that had to be killed has not deleted it.
    if (ready.temporary_folder !== undefined) folders.push(ready.temporary_folder);
    const { base_url: baseUrl } = ready;
    const { sandbox_key: apiKey, live_key: liveKey } = keysOf(ready, database);
    const env = { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey, SERVICE_CONFIG_DIR: configDir };
    if (seed !== undefined) await startOwnCommand(["trigger", "--fixture", resolve(seed)], env).ended;
    const api = new ApiClient(baseUrl, apiKey);
    let watch = new EventWatch(api);
    return {
      baseUrl,
      apiKey,
      liveKey,
      env,
      request: (method, path, body) => api.request(method, path, body),
      waitForEvent: (type, { where, within = "5s" } = {}) => watch.next(type, where, within),
      async listen({ forwardTo, secret }) {
        const listener = await listenWith(env, forwardTo, secret);
        listeners.add(listener);
        return listener;
      },
      async advance(duration) {
        const seconds = millisecondsOf(duration) / 1000;
        await api.request("POST", "/v1/test_clock/advance", { seconds });
        while ((await api.request("GET", "/v1/test_clock")).status === "advancing") await delay(POLL_MS);
      },
      async reset() {
        await api.request("POST", "/v1/sandbox/reset");
        watch = new EventWatch(api);
      },
      async save(name) {
        await api.request("POST", "/v1/sandbox/snapshots", { name });
      },
      async restore(name) {
        await api.request("POST", `/v1/sandbox/snapshots/${encodeURIComponent(name)}/restore`);
        watch = new EventWatch(api);
      },
      faults: {
        async add(request, effect) {
          const { id } = await api.request<{ id: string }>("POST", "/v1/faults", faultOf(request, effect));
          return id;
        },
        async clear() {
          await api.request("DELETE", "/v1/faults");
        },
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const POLL_MS = 20;

/** Returns the body of `POST /v1/faults`. Throws TypeError unless it has one effect. */
function faultOf(request: string, { rate, times, ...given }: FaultEffect): object {
  const [path, method] = request.trim().split(/ +/).toReversed();
  const effects = Object.entries(given).filter(([, value]) => value !== undefined);
  if (effects.length !== 1) throw new TypeError("A fault has one effect, such as { status: 503 }");
  const { status, delay } = given;
  const effect = {
    status: { effect: "status", status },
    delay: { effect: "delay", delay_ms: delay && millisecondsOf(delay) },
    disconnect: { effect: "disconnect" },
    loseResponse: { effect: "lose_response" },
    truncate: { effect: "truncate" },
  }[effects[0]![0]];
  return { match: { method, path }, ...effect, rate, times };
}

async function listenWith(
  env: Record<string, string>,
  forwardTo: string,
  secret: string | undefined,
): Promise<Listener> {
  // Not a flag, which every user of the machine can read.
  const own = secret === undefined ? {} : { SERVICE_WEBHOOK_SECRET: secret };
  const listen = startOwnCommand(["listen", "--forward-to", forwardTo], { ...env, ...own });
  const close = (): Promise<void> => listen.stop();
  try {
    const ready = await listen.ready<{ secret: string }>();
    return { secret: secret ?? ready.secret, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What an event created by `event` has besides its object. */
export interface EventDetails<Type extends WebhookEventType> extends Partial<
  Pick<EventEnvelope<Type, EventObjects[Type]>, "id" | "created" | "livemode" | "request">
> {
  /** On `*.updated`: the old values of the fields that changed. */
  previous?: Partial<EventObjects[Type]>;
}

const newId = createIdGenerator((size) => randomBytes(size));

/**
 * Returns an event for a test, as the platform would send it: `event("order.completed", { amount: 500 })`. Each has IDs of
 * its own. Fields of the object that are not given have the examples of the API's schemas.
 */
export function event<Type extends WebhookEventType>(
  type: Type,
  fields: Partial<EventObjects[Type]> = {},
  { previous, ...details }: EventDetails<Type> = {},
): WebhookEvent<Type> {
  const now = Date.now();
  const created = formatTimestamp(now);
  const sample = (EVENT_SAMPLES as unknown as EventObjects)[type];
  const object = { ...structuredClone(sample), id: newId(sample.object, now), created, ...fields };
  return {
    id: newId("event", now),
    object: "event",
    type,
    created,
    livemode: false,
    data: previous === undefined ? { object } : { object, previous },
    request: { id: newId("request", now) },
    ...details,
  };
}
