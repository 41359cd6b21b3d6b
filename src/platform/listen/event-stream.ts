import type { ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { EVENT_TYPES, typesOfSubscription } from "../../contract/event-types.ts";
import { EVENT_STREAM_PATH } from "../../contract/listen.ts";
import { assertScope, type Authenticate } from "../http/authenticate.ts";
import { compileQuery } from "../http/query.ts";
import type { Services } from "../services.ts";
import { readLog } from "../storage/event-log.ts";
import { findPosition, type Position } from "./position.ts";

const READ_MOST = 128;
/** After how long the log is read again where some of it could not be read yet. */
const HELD_BACK_MILLISECONDS = 20;
/** How often a quiet stream says that it lives, and whether its credential may still be used is looked at. */
const LOOK_MILLISECONDS = 1000;
/** A stream is no request with a reply. */
const notLogged = () => {};

/**
 * `GET /v1/events/stream`: events as they are committed, as server-sent events, in either environment. `id` is what
 * `after` takes (an event id, `now` or `-<seconds>`), `data` the event's JSON; a replay comes again under its own id.
 */
export function registerEventStream(app: FastifyInstance, services: Services, authenticate: Authenticate): void {
  const streams = new Set<EventStream>();
  const readQuery = compileQuery(
    Type.Object(
      {
        after: Type.Optional(Type.String()),
        type: Type.Optional(Type.String({ format: "subscription" })),
      },
      { additionalProperties: false },
    ),
  );
  app.get(EVENT_STREAM_PATH, async (request, reply) => {
    const caller = await authenticate(request.raw, notLogged);
    assertScope(caller, "events:read");
    await services.rateLimit?.take(caller.credential.id, reply);
    const { after, type = "*" } = readQuery(request.url) as { after?: string; type?: string };
    const { database, time } = services;
    const environment = caller.tenant.environment;
    const { now } = await time.read(database, caller.tenant);
    const position = await findPosition(database, environment, after, now);
    reply.hijack();
    const headers = { ...reply.getHeaders(), "Content-Type": "text/event-stream; charset=utf-8" };
    reply.raw.writeHead(200, headers as Record<string, string>);
    const stream = new EventStream(services, reply.raw, {
      environment,
      type,
      position,
      prove: async () => void (await authenticate(request.raw, notLogged)),
    });
    streams.add(stream);
    reply.raw.once("close", () => {
      stream.stop();
      streams.delete(stream);
    });
    stream.start();
  });
  app.addHook("preClose", (done) => {
    for (const stream of streams) stream.end();
    done();
  });
}

interface StreamSettings {
  environment: number;
  type: string;
  position: Position;
  /** Rejects once the credential may not be used any more. */
  prove: () => Promise<void>;
}

/** One reader. The log is the only source, read on behind the stream's position when events are committed. */
class EventStream {
  private readonly services: Services;
  private readonly response: ServerResponse;
  private readonly settings: StreamSettings;
  private readonly stops: (() => void)[] = [];
  private place: Position["place"];
  private reading = false;
  private readAgain = false;
  private stopped = false;

  constructor(services: Services, response: ServerResponse, settings: StreamSettings) {
    this.services = services;
    this.response = response;
    this.settings = settings;
    this.place = settings.position.place;
  }

  start(): void {
    this.response.write(
      `retry: 1000\nevent: ready\ndata: {"cursor":${JSON.stringify(this.settings.position.cursor)}}\n\n`,
    );
    this.stops.push(this.services.database.onWake("events", () => this.read()));
    this.response.on("drain", () => this.read());
    this.beat();
    this.read();
  }

  stop(): void {
    this.stopped = true;
    for (const stop of this.stops.splice(0)) stop();
  }

  end(): void {
    this.stop();
    this.response.end();
  }

  private beat(): void {
    const cancel = this.services.clock.after(LOOK_MILLISECONDS, () => {
      this.stops.splice(this.stops.indexOf(cancel), 1);
      this.settings.prove().then(
        () => {
          if (this.stopped) return;
          this.response.write(": still here\n\n");
          this.beat();
        },
        () => this.end(),
      );
    });
    this.stops.push(cancel);
  }

  private read(): void {
    this.readAgain = true;
    if (this.reading) return;
    this.reading = true;
    this.readOn().catch((error: unknown) => {
      this.services.log.error({ err: error }, "a stream of events could not be served");
      this.end();
    });
  }

  /** Stops reading while the reader is slow; `drain` goes on. */
  private async readOn(): Promise<void> {
    const types = this.settings.type === "*" ? EVENT_TYPES : typesOfSubscription(this.settings.type);
    while (this.readAgain && !this.stopped && !this.response.writableNeedDrain) {
      this.readAgain = false;
      const { environment } = this.settings;
      const { events, heldBack } = await readLog(this.services.database, environment, this.place, types, READ_MOST);
      for (const { place, id, body, replayId } of events) {
        this.place = place;
        const name = replayId === undefined ? "event" : "replay";
        this.response.write(`id: ${replayId ?? id}\nevent: ${name}\ndata: ${body}\n\n`);
      }
      if (events.length === READ_MOST) this.readAgain = true;
      else if (heldBack) this.stops.push(this.services.clock.after(HELD_BACK_MILLISECONDS, () => this.read()));
    }
    this.reading = false;
  }
}
