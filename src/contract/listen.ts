import { type Environment, ENVIRONMENTS } from "./environments.ts";
import { matchesSubscriptions } from "./event-types.ts";
import { HEADERS } from "./headers.ts";
import { isRecord, parseJson } from "./json.ts";
import { LIMITS } from "./limits.ts";

/** The WebSocket of `service listen`: `GET {base_url}/v1/listen` with this subprotocol. */
export const LISTEN_PATH = "/v1/listen";

/** The stream of server-sent events, in either environment, without acknowledgements. */
export const EVENT_STREAM_PATH = "/v1/events/stream";
export const LISTEN_SUBPROTOCOL = "service.listen.v1";

/** Names the machine that listens; the signing secret is stable for account, user and this name. */
export const LISTEN_DEVICE_HEADER = HEADERS.device;

/** Query of the upgrade request. */
export interface ListenQuery {
  /** Comma-separated subscriptions; absent means all. */
  events?: string;
  /** Start position: after an event ID, `now`, or `-<seconds>` for a time in the past. */
  after?: string;
  /** Maximum number of unacknowledged events. */
  window?: string;
}

/** The first frame. `cursor` is an event ID to pass as `after` until an event has been acknowledged. */
export interface ReadyFrame {
  frame: "ready";
  session: string;
  secret: string;
  cursor: string;
  account: string;
  environment: Environment;
  subscriptions: string[];
  /** Number of other sessions that listen to the same environment. */
  others: number;
}

/** One event. `seq` numbers the session's events from 1; `body` is the exact bytes to forward, as text. */
export interface SentEvent {
  seq: number;
  id: string;
  type: string;
  /** The ID to pass as `after` once everything up to here is acknowledged; on a replayed event only. */
  cursor?: string;
  body: string;
}

/**
 * Events in commit order, at most `LIMITS.eventsPerFrame`. A single due event is sent at once. `filtered_out` is the
 * number of new events since the last such number that the subscriptions exclude; a frame may have nothing else.
 */
interface EventsFrame {
  frame: "events";
  events: SentEvent[];
  filtered_out?: number;
}

/** Why events are missing, if it is not retention, a failover or damage: the sandbox was reset. */
export type GapReason = "reset";

/**
 * Events after `from` and before `to` may be missing: retention removed them, or a failover of the database lost them.
 * With the reason `reset`, `from` is an event from before a reset of the sandbox, and the events since then follow. Sent
 * before the event `to`; if no later event exists yet, `to` is the lowest ID of the current time. If both are equal, the
 * stored event is damaged.
 */
export interface GapFrame {
  frame: "gap";
  from: string;
  to: string;
  reason?: GapReason;
}

/**
 * The sandbox was reset: nothing that was sent before exists, and its outcomes are recorded nowhere. Events of the new log
 * follow; `cursor` is its start.
 */
export interface ResetFrame {
  frame: "reset";
  cursor: string;
}

/** Another listener joined or left: how many others listen to the same environment now. */
export interface ListenersFrame {
  frame: "listeners";
  others: number;
}

/** Why the platform is about to close the session. */
export interface ByeFrame {
  frame: "bye";
  code: string;
  message: string;
}

export type PlatformFrame = ReadyFrame | EventsFrame | GapFrame | ResetFrame | ListenersFrame | ByeFrame;

/** One attempt to forward an event: the receiver's status, or the error if there was no response. */
export interface ForwardAttempt {
  status_code?: number;
  error?: string;
  duration_ms: number;
  response_excerpt?: string;
  /** Headers of an error response. */
  location?: string;
  retry_after?: string;
  www_authenticate?: string;
  cf_ray?: string;
}

/** The headers of an error response that show why an attempt failed, each after its field. */
export const REPORTED_HEADERS = [
  ["location", "location"],
  ["retry_after", "retry-after"],
  ["www_authenticate", "www-authenticate"],
  ["cf_ray", "cf-ray"],
] as const;

/** Returns the response's headers that an attempt reports; null without any. */
export function reportedHeaders(attempt: ForwardAttempt): Record<string, string> | null {
  let found: Record<string, string> | null = null;
  for (const [field, name] of REPORTED_HEADERS) {
    const value = attempt[field];
    if (value !== undefined) (found ??= {})[name] = value.slice(0, LIMITS.listenTargetLength);
  }
  return found;
}

/** An attempt that was retried, and how many milliseconds before the acknowledgement it ended. */
interface EarlierAttempt extends ForwardAttempt {
  ago_ms: number;
}

/**
 * The outcome of an event, which is the result of its last attempt. Without status and error, the event was received
 * but not forwarded.
 */
export interface Ack extends ForwardAttempt {
  seq: number;
  /** True if a filter of the listener excluded the event. */
  filtered?: boolean;
  /** Faults that the listener injected, with the responses to its extra requests: `drop, badsig 400`. */
  injected?: string;
  /** Earlier attempts, oldest first; only the most recent `LIMITS.earlierAttempts`. */
  attempts?: EarlierAttempt[];
}

interface AcksFrame {
  frame: "acks";
  acks: Ack[];
}

/** A failed attempt whose event stays unacknowledged, and how many milliseconds later the next attempt follows. */
export interface Retry extends ForwardAttempt {
  seq: number;
  retry_in_ms: number;
}

interface RetriesFrame {
  frame: "retries";
  retries: Retry[];
}

/** The outcome of an event that was acknowledged before and then sent again manually. */
export interface Resend extends ForwardAttempt {
  id: string;
  type: string;
}

interface ResendsFrame {
  frame: "resends";
  resends: Resend[];
}

/** Where a listener forwards the events of a subscription. */
export interface ListenTarget {
  /** `*`, `<prefix>.*` or an event type. */
  events: string;
  url: string;
}

/** Returns where an event of a type is forwarded: to the first target that fits it. */
export function urlFor(targets: readonly ListenTarget[], type: string): string | undefined {
  return targets.find(({ events }) => matchesSubscriptions([events], type))?.url;
}

/** What a client that forwards nothing waits for: `the app runs`, and what the user can do: `Restart it`. */
export interface Waiting {
  waiting: string;
  remedy: string;
}

/**
 * Sent after the ready frame by a client that forwards, and again when it begins or ends to wait. The first target that
 * fits an event gets it.
 */
export interface TargetsFrame extends Partial<Waiting> {
  frame: "targets";
  targets: ListenTarget[];
  /** True if the client ends after one event: it is not a listener that is expected to return. */
  once?: boolean | undefined;
}

export type ClientFrame = AcksFrame | RetriesFrame | ResendsFrame | TargetsFrame;

/** The error for an invalid frame. Its message names the mistake. */
export class FrameError extends Error {
  override name = "FrameError";
}

/** The kinds of fields, by their name in error messages. `?` after a kind: the field is optional. */
const FIELD_KINDS = {
  string: (value: unknown) => typeof value === "string",
  // These are printed and written to files. What they contain is not limited further, so that later platforms can add
  // values.
  name: (value: unknown) => matches(/^[\w.-]{1,100}$/, value),
  "name of events": (value: unknown) => matches(/^[\w.*]{1,100}$/, value),
  URL: (value: unknown) =>
    matches(/^https?:\/\/[\x21-\x7e]+$/, value) && (value as string).length <= LIMITS.listenTargetLength,
  "event ID": (value: unknown) => matches(/^evt_\w{1,100}$/, value),
  "signing secret": (value: unknown) => matches(/^whsec_[\w+/=-]{1,200}$/, value),
  environment: (value: unknown) => ENVIRONMENTS.some((environment) => environment === value),
  "list of subscriptions": (value: unknown) =>
    Array.isArray(value) && value.every((item) => matches(/^[\w.*!-]{1,100}$/, item)),
  list: (value: unknown) => Array.isArray(value),
  flag: (value: unknown) => typeof value === "boolean",
  count: (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0,
  status: (value: unknown) => Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 999,
  // A limit that every database can store: 24 days.
  duration: (value: unknown) => typeof value === "number" && value >= 0 && value <= 2 ** 31 - 1,
} as const;

type FieldKind = keyof typeof FIELD_KINDS | `${keyof typeof FIELD_KINDS}?`;
type Fields = Record<string, FieldKind>;

/** The fields of a frame, or of an item of one of its lists. */
interface Shape {
  fields: Fields;
  items?: { of: string; shape: Shape; max: number };
}

function matches(pattern: RegExp, value: unknown): boolean {
  return typeof value === "string" && pattern.test(value);
}

const ATTEMPT: Fields = {
  status_code: "status?",
  error: "string?",
  duration_ms: "duration",
  response_excerpt: "string?",
  ...Object.fromEntries(REPORTED_HEADERS.map(([field]) => [field, "string?" as const])),
};

const PLATFORM_FRAMES: Record<PlatformFrame["frame"], Shape> = {
  ready: {
    fields: {
      session: "name",
      secret: "signing secret",
      cursor: "event ID",
      account: "name",
      environment: "environment",
      subscriptions: "list of subscriptions",
      others: "count",
    },
  },
  events: {
    fields: { events: "list", filtered_out: "count?" },
    items: {
      of: "events",
      shape: { fields: { seq: "count", id: "event ID", type: "name", cursor: "event ID?", body: "string" } },
      max: LIMITS.eventsPerFrame,
    },
  },
  gap: { fields: { from: "event ID", to: "event ID", reason: "name?" } },
  reset: { fields: { cursor: "event ID" } },
  listeners: { fields: { others: "count" } },
  bye: { fields: { code: "name", message: "string" } },
};

const CLIENT_FRAMES: Record<ClientFrame["frame"], Shape> = {
  acks: {
    fields: { acks: "list" },
    items: {
      of: "acks",
      shape: {
        fields: { seq: "count", filtered: "flag?", injected: "string?", attempts: "list?", ...ATTEMPT },
        items: {
          of: "attempts",
          shape: { fields: { ago_ms: "duration", ...ATTEMPT } },
          max: LIMITS.earlierAttempts,
        },
      },
      max: LIMITS.acksPerFrame,
    },
  },
  retries: {
    fields: { retries: "list" },
    items: {
      of: "retries",
      shape: { fields: { seq: "count", retry_in_ms: "duration", ...ATTEMPT } },
      max: LIMITS.acksPerFrame,
    },
  },
  resends: {
    fields: { resends: "list" },
    items: {
      of: "resends",
      shape: { fields: { id: "event ID", type: "name", ...ATTEMPT } },
      max: LIMITS.acksPerFrame,
    },
  },
  targets: {
    fields: { targets: "list", once: "flag?", waiting: "string?", remedy: "string?" },
    items: { of: "targets", shape: { fields: { events: "name of events", url: "URL" } }, max: LIMITS.listenTargets },
  },
};

/** Reads a frame from the platform. Throws FrameError. Unknown members are ignored: later versions may add some. */
export function parsePlatformFrame(text: string): PlatformFrame {
  return parseFrame(text, PLATFORM_FRAMES) as PlatformFrame;
}

/** Reads a frame from a listening client. Throws FrameError. */
export function parseClientFrame(text: string): ClientFrame {
  return parseFrame(text, CLIENT_FRAMES) as ClientFrame;
}

function parseFrame(text: string, frames: Record<string, Shape>): unknown {
  const value = parseJson(text);
  if (value === undefined) throw new FrameError("a frame is not JSON");
  if (!isRecord(value)) throw new FrameError("a frame is not a JSON object");
  const name = value["frame"];
  // A name of another type is not printed: JSON.stringify would overflow the stack for deeply nested values.
  if (typeof name !== "string") throw new FrameError("a frame has no name");
  const shape = Object.hasOwn(frames, name) ? frames[name] : undefined;
  if (shape === undefined) throw new FrameError(`unknown frame ${JSON.stringify(name.slice(0, 40))}`);
  checkShape(value, shape, `frame ${name}`);
  return value;
}

function checkShape(value: Record<string, unknown>, { fields, items }: Shape, place: string): void {
  for (const field in fields) {
    const kind = fields[field]!;
    const isOptional = kind.endsWith("?");
    if (isOptional && value[field] === undefined) continue;
    const required = (isOptional ? kind.slice(0, -1) : kind) as keyof typeof FIELD_KINDS;
    if (!FIELD_KINDS[required](value[field])) throw new FrameError(`${place}: ${field} is not a valid ${required}`);
  }
  if (items === undefined) return;
  const list = (value[items.of] ?? []) as unknown[];
  if (list.length > items.max) throw new FrameError(`${place}: ${items.of} has more than ${items.max} items`);
  for (const item of list) {
    if (!isRecord(item)) throw new FrameError(`${place}: an item of ${items.of} is not an object`);
    checkShape(item, items.shape, `${place}, ${items.of}`);
  }
}
