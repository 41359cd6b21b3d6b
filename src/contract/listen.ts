import type { Environment } from "./environments.ts";
import { HEADERS } from "./headers.ts";

/** The WebSocket of `service listen`: `GET {base_url}/v1/listen` with this subprotocol. */
export const LISTEN_PATH = "/v1/listen";

/** Where events come as server-sent events, in either environment, without acknowledgements. */
export const EVENT_STREAM_PATH = "/v1/events/stream";
export const LISTEN_SUBPROTOCOL = "service.listen.v1";

/** Names the machine that listens; the signing secret is stable for account, user and this name. */
export const LISTEN_DEVICE_HEADER = HEADERS.device;

/** Query of the upgrade request. */
export interface ListenQuery {
  /** Comma-separated subscriptions; absent means all. */
  events?: string;
  /** Where to start: behind an event id, `now`, or `-<seconds>` ago. */
  after?: string;
  /** The most unacknowledged events in flight. */
  window?: string;
}

/** The first frame. `cursor` is an event id to give as `after` where nothing has been acknowledged yet. */
export interface ReadyFrame {
  frame: "ready";
  session: string;
  secret: string;
  cursor: string;
  account: string;
  environment: Environment;
  subscriptions: string[];
  /** How many other sessions listen to the same environment now. */
  others: number;
}

/** One event. `seq` numbers the session's events from 1; `body` is the exact bytes to forward, as text. */
export interface EventFrame {
  frame: "event";
  seq: number;
  id: string;
  type: string;
  /** Only on a replayed event: the id to give as `after` once everything up to here is acknowledged. */
  cursor?: string;
  body: string;
}

/**
 * Events after `from` and before `to` may be missing: retention removed them, or a failover of the database lost them.
 * Comes at any time in a session, before the event `to`; where none follows yet, `to` is the lowest ID of that moment.
 * Where both are the same, the stored event is damaged.
 */
export interface GapFrame {
  frame: "gap";
  from: string;
  to: string;
}

/** Why the platform is about to close the session. */
export interface ByeFrame {
  frame: "bye";
  code: string;
  message: string;
}

export type PlatformFrame = ReadyFrame | EventFrame | GapFrame | ByeFrame;

/** The outcome of one event: the receiver's status, or why there is none. Neither: taken without being forwarded. */
export interface AckFrame {
  frame: "ack";
  seq: number;
  status_code?: number;
  error?: string;
  duration_ms: number;
  response_excerpt?: string;
}

/** A frame that is not one of the protocol's: its message says what is wrong. */
export class FrameError extends Error {
  override name = "FrameError";
}

/** What a field may hold, and how that is called. `?` behind a kind: it may be left out. */
const FIELD_KINDS = {
  string: (value: unknown) => typeof value === "string",
  "list of strings": (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  count: (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0,
  status: (value: unknown) => Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 999,
  // As much as every database keeps, rounded: 24 days.
  duration: (value: unknown) => typeof value === "number" && value >= 0 && value <= 2 ** 31 - 1,
} as const;

type FieldKind = keyof typeof FIELD_KINDS | `${keyof typeof FIELD_KINDS}?`;

const PLATFORM_FRAMES: Record<PlatformFrame["frame"], Record<string, FieldKind>> = {
  ready: {
    session: "string",
    secret: "string",
    cursor: "string",
    account: "string",
    environment: "string",
    subscriptions: "list of strings",
    others: "count",
  },
  event: { seq: "count", id: "string", type: "string", cursor: "string?", body: "string" },
  gap: { from: "string", to: "string" },
  bye: { code: "string", message: "string" },
};

const CLIENT_FRAMES: Record<AckFrame["frame"], Record<string, FieldKind>> = {
  ack: { seq: "count", status_code: "status?", error: "string?", duration_ms: "duration", response_excerpt: "string?" },
};

/** Reads a frame from the platform. Throws FrameError. Members beyond the protocol's are left alone: it may grow. */
export function parsePlatformFrame(text: string): PlatformFrame {
  return parseFrame(text, PLATFORM_FRAMES) as PlatformFrame;
}

/** Reads a frame from a listening client. Throws FrameError. */
export function parseClientFrame(text: string): AckFrame {
  return parseFrame(text, CLIENT_FRAMES) as AckFrame;
}

function parseFrame(text: string, frames: Record<string, Record<string, FieldKind>>): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new FrameError("a frame is not JSON");
  }
  if (typeof value !== "object" || value === null) throw new FrameError("a frame is not a JSON object");
  const frame = value as Record<string, unknown>;
  const name = frame["frame"];
  // JSON.stringify of any other value would overflow the stack where it is nested deep enough.
  if (typeof name !== "string") throw new FrameError("a frame has no name");
  const fields = Object.hasOwn(frames, name) ? frames[name] : undefined;
  if (fields === undefined) throw new FrameError(`unknown frame ${JSON.stringify(name.slice(0, 40))}`);
  for (const [field, kind] of Object.entries(fields)) {
    const plain = kind.replace("?", "") as keyof typeof FIELD_KINDS;
    if (frame[field] === undefined && kind !== plain) continue;
    if (!FIELD_KINDS[plain](frame[field])) throw new FrameError(`frame ${name}: ${field} is not a ${plain}`);
  }
  return frame;
}
