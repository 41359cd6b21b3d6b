import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { typesOfSubscription } from "../../contract/event-types.ts";
import { HEADERS } from "../../contract/headers.ts";
import { isId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { EVENT_STREAM_PATH, type GapReason } from "../../contract/listen.ts";
import { EventStreamQuery, LAST_EVENT_ID } from "../../contract/schemas/event.ts";
import { ApiError } from "../domain/api-error.ts";
import type { Caller, Tenant } from "../domain/request-context.ts";
import type { With } from "../tools.ts";
import { assertScope, type Authenticate } from "../http/authenticate.ts";
import { compileQuery } from "../http/validate.ts";
import { versionOfResponse } from "../http/headers.ts";
import { CredentialWatch, type ListenerRegistry, OpenConnections, type Watched } from "./listeners.ts";
import {
  cursorOf,
  findStart,
  type LogClient,
  LogReader,
  type LogTools,
  MAX_BUFFERED_BYTES,
  type Reading,
} from "./log-reader.ts";
import { type Reader, recordUnread } from "../http/unread.ts";
import { stopping } from "./server.ts";
import { findLatestAdvance } from "../storage/clock-advances.ts";
import { countAttempts, countPending } from "../storage/counts.ts";
import { findEnvironment } from "../storage/environments.ts";
import type { LoggedEvent } from "../storage/event-log.ts";
import { newestId } from "../storage/page.ts";

interface StreamTools extends LogTools, With<"versions" | "rateLimit"> {
  listeners: ListenerRegistry;
}

/**
 * `GET /v1/events/stream`: events as they are committed, as server-sent events, in either environment. `id` is a value
 * for `after` and `Last-Event-ID`, `data` the event's JSON. A replay is sent again under its own ID.
 */
export function registerEventStream(app: FastifyInstance, tools: StreamTools, authenticate: Authenticate): void {
  const streams = new Map<EventStream, Caller>();
  const watch = new CredentialWatch(tools, streams);
  const connections = new OpenConnections("event streams", LIMITS.eventStreamsPerEnvironment);
  const readQuery = compileQuery(EventStreamQuery);
  let isClosing = false;
  app.get(EVENT_STREAM_PATH, { config: { crossOrigin: "access token" } }, async (request, reply) => {
    const { database, clock, time, versions } = tools;
    // A stream is not logged as a request, because its response does not end.
    const caller = await authenticate(request.raw, ({ tenant }) => {
      void reply.header(HEADERS.version, versionOfResponse(versions, request.headers, tenant.account.version));
    });
    assertScope(caller, "events:read");
    await tools.rateLimit?.take(caller.credential.id, (name, value) => reply.header(name, value));
    const { tenant } = caller;
    const { after, type = "*" } = readQuery(request.url) as { after?: string; type?: string };
    void reply.header("Content-Type", "text/event-stream; charset=utf-8");
    // Otherwise nginx collects events until its buffer is full.
    void reply.header("X-Accel-Buffering", "no");
    connections.take(tenant, reply.raw);
    const { now } = await time.read(database, tenant);
    const start = await findStart(database, tenant.environment, lastEventId(request.headers) ?? after, now);
    // Checked last: a stream that begins after the others were ended would delay the stop.
    if (isClosing) throw stopping();
    reply.hijack();
    // The client may have disconnected meanwhile.
    if (reply.raw.destroyed) return;
    reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
    if (request.method === "HEAD") return void reply.raw.end();
    const reading = { tenant, types: typesOfSubscription(type), start };
    const stamps = caller.credential.kind === "session" ? () => readStamps(tools, tenant, clock.now()) : undefined;
    const stream = new EventStream(tools, reply.raw, reading, stamps);
    streams.set(stream, caller);
    watch.start();
    reply.raw.once("close", () => {
      stream.stop();
      streams.delete(stream);
    });
    stream.start();
  });
  app.addHook("preClose", (done) => {
    isClosing = true;
    watch.stop();
    for (const stream of streams.keys()) stream.end();
    done();
  });
}

/**
 * The last event that a reconnecting client has received. It takes precedence over where its first connection began.
 */
function lastEventId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers[LAST_EVENT_ID.toLowerCase()];
  if (id === undefined || id === "") return undefined;
  if (typeof id === "string" && isId("event", id)) return id;
  throw new ApiError("invalid_header", `${LAST_EVENT_ID} must be an event ID (evt_…) that this stream has sent.`);
}

/** How often an idle stream sends a keep-alive message. */
const BEAT_MILLISECONDS = 1000;
/** How long a client should wait before it reconnects. */
const RETRY_MILLISECONDS = 1000;

/**
 * One client of server-sent events. Events and replays are messages of the default type. `ready`, `gap` and `reset` have
 * names, so that a listener for messages gets only events. The ID of `ready`, `reset` and of every event is the position
 * to resume from. The dashboard's streams also have `changed`, with the stamps of what no event reports.
 */
class EventStream implements LogClient, Watched, Reader {
  readonly #tools: LogTools;
  readonly #response: ServerResponse;
  readonly #cursor: string;
  readonly #reader: LogReader;
  readonly #stamps: (() => Promise<PageStamps>) | undefined;
  #lastStamps = "";
  #cancelBeat: (() => void) | undefined;
  #isStopped = false;

  /** `stamps` is absent if only events are sent. */
  constructor(tools: LogTools, response: ServerResponse, reading: Reading, stamps?: () => Promise<PageStamps>) {
    this.#tools = tools;
    this.#response = response;
    this.#cursor = cursorOf(reading.start.position);
    this.#stamps = stamps;
    this.#reader = new LogReader(tools, reading, this);
  }

  start(): void {
    const cursor = this.#cursor;
    this.#response.write(`retry: ${RETRY_MILLISECONDS}\n`);
    this.#write({ name: "ready", id: cursor, data: JSON.stringify({ cursor }) });
    this.#response.on("drain", () => {
      recordUnread(this, 0);
      this.#reader.ask();
    });
    void this.#tellChanges();
    this.#beat();
    this.#reader.start();
  }

  stop(): void {
    this.#isStopped = true;
    this.#reader.stop();
    this.#cancelBeat?.();
    recordUnread(this, 0);
  }

  cut(): void {
    this.#response.destroy();
  }

  end(): void {
    this.stop();
    this.#response.end();
  }

  /** The response to its next request contains the reason. */
  reject(): void {
    this.end();
  }

  available(): number {
    return this.#response.writableNeedDrain ? 0 : Infinity;
  }

  isFor(): boolean {
    return false;
  }

  send(events: readonly LoggedEvent[]): number {
    let sent = 0;
    for (const { id, body, replayId } of events) {
      if (this.#response.writableLength > MAX_BUFFERED_BYTES) break;
      this.#write({ id: replayId ?? id, data: body });
      sent += 1;
    }
    recordUnread(this, this.#response.writableNeedDrain ? this.#response.writableLength : 0);
    return sent;
  }

  gap(from: string, to: string, reason?: GapReason): void {
    this.#write({ name: "gap", data: JSON.stringify({ from, to, reason }) });
  }

  reset(cursor: string): void {
    this.#write({ name: "reset", id: cursor, data: JSON.stringify({ cursor }) });
  }

  failed(error: unknown): void {
    this.#tools.log.error({ err: error }, "a stream of events could not be served");
    this.end();
  }

  #write({ name, id, data }: { name?: string; id?: string; data: string }): void {
    const fields = [...(id === undefined ? [] : [`id: ${id}`]), ...(name === undefined ? [] : [`event: ${name}`])];
    this.#response.write(`${[...fields, `data: ${data}`].join("\n")}\n\n`);
  }

  #beat(): void {
    if (this.#isStopped) return;
    this.#cancelBeat = this.#tools.clock.after(BEAT_MILLISECONDS, () => {
      this.#response.write(": still here\n\n");
      void this.#tellChanges().then(() => this.#beat());
    });
  }

  async #tellChanges(): Promise<void> {
    if (this.#stamps === undefined) return;
    try {
      const stamps = JSON.stringify(await this.#stamps());
      if (this.#isStopped || stamps === this.#lastStamps) return;
      this.#lastStamps = stamps;
      this.#write({ name: "changed", data: stamps });
    } catch (error) {
      if (!this.#isStopped) this.failed(error);
    }
  }
}

const MINUTE = 60_000;

/** A stamp for each topic that the dashboard shows and no event reports. It changes when the topic does. */
type PageStamps = Record<"deliveries" | "clock" | "requests" | "listeners", string>;

/** Reads the stamps of an environment from the database, since other processes change it too. */
async function readStamps({ database, listeners }: StreamTools, tenant: Tenant, now: number): Promise<PageStamps> {
  const { environment } = tenant;
  const { clock_offset: offset } = await findEnvironment(database, environment);
  const last = Math.floor((now + offset) / MINUTE);
  const [advance, attempts, pending, request, sessions] = await Promise.all([
    findLatestAdvance(database, environment),
    // An attempt counts for the minute in which it began.
    countAttempts(database, { environment, first: last - 1, last }),
    countPending(database, { environment }),
    newestId(database, "request_logs", environment),
    listeners.sessionsIn(database, tenant),
  ]);
  const counts = attempts.map(({ part, succeeded, count }) => `${last - 1 + part}/${succeeded}/${count}`).toSorted();
  return {
    deliveries: [pending, ...counts].join(" "),
    clock: [offset, advance?.number, advance?.status, advance?.attempts].join(" "),
    requests: request ?? "",
    // A connection says where it forwards after it was opened.
    listeners: sessions.map(({ listener, targets }) => `${listener}/${targets.length}`).join(" "),
  };
}
