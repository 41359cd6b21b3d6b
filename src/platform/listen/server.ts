import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { WebSocketServer } from "ws";
import { EVENT_TYPES, matchesSubscriptions, typesOfSubscription } from "../../contract/event-types.ts";
import { LIMITS } from "../../contract/limits.ts";
import {
  LISTEN_DEVICE_HEADER,
  LISTEN_PATH,
  LISTEN_SUBPROTOCOL,
  type ListenQuery,
  type TargetsFrame,
} from "../../contract/listen.ts";
import { nearest } from "../../contract/nearest.ts";
import { ApiError, invalidFields, shorten, unavailable } from "../domain/api-error.ts";
import type { Caller, Tenant } from "../domain/request-context.ts";
import type { Authenticate } from "../http/authenticate.ts";
import { compileQuery, MAX_ERRORS } from "../http/validate.ts";
import { AckRecorder } from "./acknowledgements.ts";
import { admit, type Handshake, type HandshakeTools, recordHandshake, reject } from "./handshake.ts";
import {
  CredentialWatch,
  type Listener,
  type ListenerRegistry,
  type ListenerTools,
  OpenConnections,
  openListener,
} from "./listeners.ts";
import { cursorOf, findStart, type LogTools } from "./log-reader.ts";
import { ListenerConnection } from "./connection.ts";
import { newestFailed, toListenerResult, type Undelivered, UndeliveredEvents } from "./undelivered.ts";
import type { Queries } from "../storage/database.ts";
import type { With } from "../tools.ts";

/** Characters of why a client waits. */
const MAX_REASON = 200;
/** An acknowledgement with an excerpt of 16 KiB, escaped at worst. */
const MAX_FRAME_BYTES = 256 * 1024;

const QUERY = Type.Object(
  {
    events: Type.Optional(Type.String()),
    after: Type.Optional(Type.String()),
    window: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.maxListenWindow })),
  },
  { additionalProperties: false },
);

/** What connections are served with. */
type ListenTools = HandshakeTools & ListenerTools & LogTools & With<"report">;

/** The platform's side of `service listen`, on the API's own port. */
export function createListenServer(
  server: Server,
  tools: ListenTools,
  authenticate: Authenticate,
  registry: ListenerRegistry,
) {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handleProtocols: (offered) => (offered.has(LISTEN_SUBPROTOCOL) ? LISTEN_SUBPROTOCOL : false),
  });
  const connected = new ConnectedListeners(tools.clock);
  const undelivered = new UndeliveredEvents();
  const watch = new CredentialWatch(tools, connected.callers);
  const connections = new OpenConnections("listeners", LIMITS.listenersPerEnvironment);
  const readQuery = compileQuery(QUERY);

  /** Notifies the listeners of this process, except one. If the database is unavailable, the next change does. */
  const tellOthers = (tenant: Tenant, newest?: ListenerConnection) => {
    const told = connected.of(tenant.environment).filter((connection) => connection !== newest);
    if (told.length === 0) return;
    registry.sessionsIn(tools.database, tenant).then(
      ({ length }) => told.forEach((connection) => connection.tellOthers(length - 1)),
      (error: unknown) => tools.log.warn({ err: error }, "the listeners of an environment could not be counted"),
    );
  };

  const accept = async (handshake: Handshake, stream: Duplex, head: Buffer) => {
    const { request } = handshake;
    const { database, clock } = tools;
    const caller = await admit(tools, handshake, authenticate);
    const { tenant } = caller;
    await tools.rateLimit?.take(caller.credential.id, (name, value) => (handshake.headers[name] = value));
    connections.take(tenant, stream);
    const query = readQuery(request.url ?? "") as Omit<ListenQuery, "window"> & { window?: number };
    const subscriptions = readSubscriptions(query.events);
    const { now } = await tools.time.read(database, tenant);
    const offset = now - clock.now();
    const start = await findStart(database, tenant.environment, query.after, now);
    const { id, secret } = await openListener(tools, caller, deviceOf(request));
    const listener: Listener = { id, tenant, subscriptions, targets: [], connectedAt: clock.now() };
    const others = await registry.enter(listener, stream);
    // Checked last: a connection that begins after the others were closed would keep the process from exiting.
    if (connected.isClosing) throw stopping();
    sockets.handleUpgrade(request, stream, head, (socket) => {
      recordHandshake(tools, handshake, 101);
      const sessions = (queries: Queries) => registry.sessionsIn(queries, tenant);
      const recorder = new AckRecorder(tools, listener, undelivered, { offset, sessions });
      const types = EVENT_TYPES.filter((type) => matchesSubscriptions(subscriptions, type));
      const setTargets = ({ targets, once, waiting, remedy }: TargetsFrame): void => {
        const reason = { waiting: waiting?.slice(0, MAX_REASON), remedy: remedy?.slice(0, MAX_REASON) };
        registry.setTargets(listener, { targets, once, ...reason });
      };
      const window = query.window ?? LIMITS.listenWindowDefault;
      const settings = { tenant, types, window, start, listener, setTargets };
      const connection = new ListenerConnection(tools, socket, stream, settings, recorder);
      connected.add(connection, caller, recorder);
      watch.start();
      const activity = { event: "listener" as const, listener: id, environment: tenant.name };
      tools.report({ ...activity, state: "connected" });
      socket.once("close", () => tools.report({ ...activity, state: "disconnected" }));
      connection.start({
        frame: "ready",
        session: id,
        secret,
        cursor: cursorOf(start.position),
        account: tenant.account.id,
        environment: tenant.name,
        subscriptions,
        others,
      });
      tellOthers(tenant, connection);
      socket.once("close", () => tellOthers(tenant));
    });
  };

  server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on("error", () => stream.destroy());
    const id = tools.newId("request", tools.clock.now());
    const handshake: Handshake = { request, id, began: tools.clock.elapsed(), identified: undefined, headers: {} };
    accept(handshake, stream, head).catch((error: unknown) => reject(tools, stream, handshake, error));
  });

  return {
    /**
     * Returns what listeners do or did with an event that they left without a delivery, the newest result first; without
     * an ID, with the newest events that they failed to forward so far. `now` is the environment's time.
     */
    resultsOf(environment: number, eventId: string | undefined, now: number) {
      const found = [...connected.forwarding(environment), ...undelivered.resultsIn(environment)];
      const results = eventId === undefined ? newestFailed(found) : found.filter(({ event }) => event === eventId);
      return results.map((result) => toListenerResult(result, now - tools.clock.now()));
    },
    /** Rejects new connections and closes open ones, within a few seconds. Resolves when nothing of them is left. */
    async close() {
      watch.stop();
      await connected.close();
      sockets.close();
    },
  };
}

/**
 * A plain request to this path is a WebSocket request whose upgrade a proxy has removed. A 404 would not reveal that.
 */
export function registerLostUpgrade(app: FastifyInstance): void {
  app.get(LISTEN_PATH, () => {
    throw new ApiError(
      "upgrade_required",
      `${LISTEN_PATH} is a WebSocket, but the request has no Upgrade header. A proxy has probably removed it: let it pass Upgrade and Connection on.`,
      { headers: { Upgrade: "websocket" } },
    );
  });
}

function readSubscriptions(events: string | undefined): string[] {
  if (events === undefined) return ["*"];
  const subscriptions = [...new Set(events.split(",").map((name) => name.trim()))];
  const unknown = subscriptions.filter((subscription) => typesOfSubscription(subscription).length === 0);
  if (unknown.length === 0) return subscriptions;
  throw invalidFields(
    unknown.slice(0, MAX_ERRORS).map((name) => {
      const guesses = nearest(name, EVENT_TYPES);
      const help = guesses.length === 0 ? "" : `; did you mean ${guesses.join(", ")}?`;
      return {
        pointer: "?events",
        code: "invalid_format",
        detail: `${JSON.stringify(shorten(name))} is not an event type${help}`,
      };
    }),
  );
}

function deviceOf(request: IncomingMessage): string {
  const name = request.headers[LISTEN_DEVICE_HEADER.toLowerCase()];
  return typeof name === "string" && /^[\x20-\x7e]{1,100}$/.test(name) ? name : "unnamed";
}

/** A listener that lost its connection may resume within this time. */
const RESUME_MILLISECONDS = 5_000;
/** A client that ends on purpose sends this close code. */
const NORMAL_CLOSURE = 1000;

/** How long a stop waits for clients to close their side and for outcomes to be recorded. */
const CLOSE_MILLISECONDS = 5_000;
const GOODBYE = { code: "shutting_down", message: "The platform is stopping; reconnect to resume." };
/** WebSocket's close code for a restarting service. */
const SERVICE_RESTART = 1012;

/** The response to a client that connects while the platform stops. */
export function stopping(): ApiError {
  return unavailable("The platform is stopping: reconnect to resume.");
}

/** The connections of this process, each from its first frame until its last outcome is recorded. */
class ConnectedListeners {
  readonly #clock: ListenTools["clock"];
  /** Open connections, with the owner of the credential. */
  readonly callers = new Map<ListenerConnection, Caller>();
  /** Each resolves once the last outcome of its connection is recorded. */
  readonly #recorders = new Map<AckRecorder, Promise<void>>();
  /** Ends the waits for listeners that may resume. */
  readonly #closing = new AbortController();

  constructor(clock: ListenTools["clock"]) {
    this.#clock = clock;
  }

  /** True once the platform stops: then no connection may begin. */
  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  add(connection: ListenerConnection, caller: Caller, recorder: AckRecorder): void {
    this.callers.set(connection, caller);
    const recorded = connection.closed.then(async (code) => {
      this.callers.delete(connection);
      if (code !== NORMAL_CLOSURE && recorder.hasUnfinished) await this.#resumeTime();
      const { environment } = caller.tenant;
      recorder.recordUnfinished((id, type, to) =>
        this.of(environment).some((one) => one.isFor(to, type) === true && one.has(id) && !this.isClosing),
      );
      await recorder.settled();
      this.#recorders.delete(recorder);
    });
    this.#recorders.set(recorder, recorded);
  }

  /** Resolves after the time in which a listener may resume, or once the platform stops. */
  async #resumeTime(): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(RESUME_MILLISECONDS, resolve);
      signal.addEventListener("abort", () => (cancel(), resolve()), { once: true });
    });
  }

  of(environment: number): ListenerConnection[] {
    return [...this.callers].flatMap(([connection, { tenant }]) =>
      tenant.environment === environment ? [connection] : [],
    );
  }

  /** Returns the events that the listeners of an environment have and have not acknowledged. */
  forwarding(environment: number): Undelivered[] {
    return this.of(environment).flatMap((connection) => connection.forwarding());
  }

  /**
   * Sends every connection the reason, and closes it. Resolves when their sockets are closed and their outcomes
   * recorded. After the timeout, sockets are closed and outcomes tried once more. Outcomes that the database rejects
   * then are missing from the deliveries; nothing else is lost, because the receiver has had these events and the
   * client knows it.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    const connections = [...this.callers.keys()];
    for (const connection of connections) connection.close(SERVICE_RESTART, GOODBYE);
    const recorded = Promise.all(this.#recorders.values());
    await within(CLOSE_MILLISECONDS, recorded);
    for (const connection of connections) connection.cut();
    for (const recorder of this.#recorders.keys()) recorder.giveUp();
    await recorded;
  }
}

/** Resolves with the promise, or after the timeout. Keeps the process alive meanwhile. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
