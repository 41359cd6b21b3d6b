import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { Type } from "typebox";
import { type WebSocket, WebSocketServer } from "ws";
import { EVENT_TYPES, matchesSubscriptions, typesOfSubscription } from "../../contract/event-types.ts";
import { LIMITS } from "../../contract/limits.ts";
import {
  LISTEN_DEVICE_HEADER,
  LISTEN_SUBPROTOCOL,
  type ListenQuery,
  type PlatformFrame,
} from "../../contract/listen.ts";
import { nearest } from "../../contract/nearest.ts";
import type { ListenerResult } from "../../contract/schemas/statistics.ts";
import { ApiError, invalidFields, shorten } from "../domain/api-error.ts";
import type { Caller } from "../domain/request-context.ts";
import type { Authenticate } from "../http/authenticate.ts";
import { compileQuery, MAX_ERRORS } from "../http/validate.ts";
import { AckRecorder } from "./acknowledgements.ts";
import { admit, type Handshake, type HandshakeTools, recordHandshake, reject } from "./handshake.ts";
import {
  CredentialWatch,
  type ListenerRegistry,
  type ListenerTools,
  OpenConnections,
  openListener,
} from "./listeners.ts";
import type { LogTools } from "./log-reader.ts";
import { cursorOf, findStart, type Start } from "./position.ts";
import { ListenSession } from "./session.ts";
import { UndeliveredEvents } from "./undelivered.ts";
import type { Activity } from "../observability/activity.ts";

/** An acknowledgement with an excerpt of 16 KiB, escaped at worst. */
const MAX_FRAME_BYTES = 256 * 1024;

export interface ListenServer {
  /** Returns what listeners do or did with an event that they left without a delivery, the newest result first. */
  resultsOf(environment: number, eventId: string): ListenerResult[];
  /** Rejects new sessions and ends open ones, within a few seconds. Resolves when nothing of them is left. */
  close(): Promise<void>;
}

const QUERY = Type.Object(
  {
    events: Type.Optional(Type.String()),
    after: Type.Optional(Type.String()),
    window: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.maxListenWindow })),
  },
  { additionalProperties: false },
);

/** What a client has requested and is authorized for. */
interface Granted {
  caller: Caller;
  subscriptions: string[];
  window: number;
  start: Start;
  listener: { id: string; secret: string };
  /** How many other sessions listen to the environment. */
  others: number;
}

/** What sessions are served with. */
interface ListenTools extends HandshakeTools, ListenerTools, LogTools {
  report: (activity: Activity) => void;
}

/** The platform's side of `service listen`, on the API's own port. */
export function createListenServer(
  server: Server,
  tools: ListenTools,
  authenticate: Authenticate,
  registry: ListenerRegistry,
): ListenServer {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handleProtocols: (offered) => (offered.has(LISTEN_SUBPROTOCOL) ? LISTEN_SUBPROTOCOL : false),
  });
  const sessions = new OpenSessions();
  const undelivered = new UndeliveredEvents();
  const watch = new CredentialWatch(tools, sessions.callers);
  const connections = new OpenConnections("listeners", LIMITS.listenersPerEnvironment);
  const readQuery = compileQuery(QUERY);

  const grant = async (handshake: Handshake, stream: Duplex): Promise<Granted> => {
    const { request } = handshake;
    const caller = await admit(tools, handshake, authenticate);
    const { tenant } = caller;
    await tools.rateLimit?.take(caller.credential.id, (name, value) => (handshake.headers[name] = value));
    connections.take(tenant, stream);
    const query = readQuery(request.url ?? "") as Omit<ListenQuery, "window"> & { window?: number };
    const subscriptions = readSubscriptions(query.events);
    const { now } = await tools.time.read(tools.database, tenant);
    const start = await findStart(tools.database, tenant.environment, query.after, now);
    const listener = await openListener(tools, caller, deviceOf(request));
    const others = await registry.enter({ id: listener.id, tenant, subscriptions }, stream);
    return { caller, subscriptions, window: query.window ?? LIMITS.listenWindowDefault, start, listener, others };
  };

  const open = (handshake: Handshake, granted: Granted, socket: WebSocket, stream: Duplex) => {
    const { caller, subscriptions, window, start, listener, others } = granted;
    const { tenant } = caller;
    recordHandshake(tools, handshake, 101);
    const recorder = new AckRecorder(tools, listener.id, tenant, undelivered);
    const types = EVENT_TYPES.filter((type) => matchesSubscriptions(subscriptions, type));
    const settings = { tenant, types, window, start };
    const session = new ListenSession(tools, socket, stream, settings, recorder);
    sessions.add(session, caller, recorder);
    watch.start();
    const activity = { event: "listener" as const, listener: listener.id, environment: tenant.name };
    tools.report({ ...activity, state: "connected" });
    socket.once("close", () => tools.report({ ...activity, state: "disconnected" }));
    const ready: PlatformFrame = {
      frame: "ready",
      session: listener.id,
      secret: listener.secret,
      cursor: cursorOf(start.position),
      account: tenant.account.id,
      environment: tenant.name,
      subscriptions,
      others,
    };
    session.start(ready);
  };

  const accept = async (handshake: Handshake, stream: Duplex, head: Buffer) => {
    const granted = await grant(handshake, stream);
    // Checked last: a session that begins after the goodbyes would keep the process from exiting.
    if (sessions.isClosing) throw stopping();
    sockets.handleUpgrade(handshake.request, stream, head, (socket) => open(handshake, granted, socket, stream));
  };

  server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on("error", () => stream.destroy());
    const id = tools.newId("request", tools.clock.now());
    const handshake: Handshake = { request, id, began: tools.clock.elapsed(), identified: undefined, headers: {} };
    accept(handshake, stream, head).catch((error: unknown) => reject(tools, stream, handshake, error));
  });

  return {
    resultsOf: (environment, eventId) => [
      ...sessions.holding(environment, eventId).map((listener) => ({ listener, result: "forwarding" as const })),
      ...undelivered.resultsOf(environment, eventId),
    ],
    async close() {
      watch.stop();
      await sessions.close();
      sockets.close();
      await registry.close();
    },
  };
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

/** How long a stop waits for clients to close their side and for outcomes to be recorded. */
const CLOSE_MILLISECONDS = 5_000;
const GOODBYE = { code: "shutting_down", message: "The platform is stopping; reconnect to resume." };
/** WebSocket's close code for a restarting service. */
const SERVICE_RESTART = 1012;

/** The response to a client that connects while the platform stops. */
export function stopping(): ApiError {
  return new ApiError("unavailable", "The platform is stopping: reconnect to resume.", {
    headers: { "Retry-After": "1" },
  });
}

/** The sessions of this process, each from its first frame until its last outcome is recorded. */
class OpenSessions {
  /** Open sessions, with the owner of the credential. */
  readonly callers = new Map<ListenSession, Caller>();
  readonly #recorders = new Set<AckRecorder>();
  #closing = false;

  /** Returns true once the platform stops: then no session may begin. */
  get isClosing(): boolean {
    return this.#closing;
  }

  add(session: ListenSession, caller: Caller, recorder: AckRecorder): void {
    this.callers.set(session, caller);
    this.#recorders.add(recorder);
    void session.closed.then(async () => {
      this.callers.delete(session);
      await recorder.settled();
      this.#recorders.delete(recorder);
    });
  }

  /** Returns the listeners of an environment that have an event and have not acknowledged it. */
  holding(environment: number, eventId: string): string[] {
    return [...this.callers].flatMap(([session, { tenant }]) =>
      tenant.environment === environment && session.holds(eventId) ? [session.listenerId] : [],
    );
  }

  /**
   * Says goodbye to every session. Resolves when their sockets are closed and their outcomes recorded. After the
   * timeout, sockets are closed and outcomes tried once more. Outcomes that the database rejects then are missing from
   * the deliveries; nothing else is lost, because the receiver has had these events and the client knows it.
   */
  async close(): Promise<void> {
    this.#closing = true;
    const sessions = [...this.callers.keys()];
    for (const session of sessions) session.close(SERVICE_RESTART, GOODBYE);
    const settled = () => Promise.all([...this.#recorders].map((recorder) => recorder.settled()));
    await within(CLOSE_MILLISECONDS, Promise.all(sessions.map(({ closed }) => closed)).then(settled));
    for (const session of sessions) session.cut();
    for (const recorder of this.#recorders) recorder.giveUp();
    await settled();
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
