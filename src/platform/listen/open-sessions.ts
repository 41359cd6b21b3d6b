import { ApiError } from "../domain/api-error.ts";
import type { Caller } from "../http/caller.ts";
import type { AckRecorder } from "./acks.ts";
import type { ListenSession } from "./session.ts";

/** How long a stop waits for clients to close their side and for outcomes to be recorded. */
const CLOSE_MILLISECONDS = 5_000;
const GOODBYE = { code: "shutting_down", message: "The platform is stopping; reconnect to go on." };
/** WebSocket's code for a service that restarts. */
const SERVICE_RESTART = 1012;

/** What a client is told that comes while the platform stops. */
export function stopping(): ApiError {
  return new ApiError("unavailable", "The platform is stopping: reconnect to go on.", {
    headers: { "Retry-After": "1" },
  });
}

/** The sessions of this process, each from its first frame until its last outcome is recorded. */
export class OpenSessions {
  /** Those that are not closed, with whose credential opened them. */
  readonly callers = new Map<ListenSession, Caller>();
  readonly #recorders = new Set<AckRecorder>();
  #closing = false;

  /** True once the platform stops: then no session may begin. */
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

  /**
   * Says goodbye to every session; resolves when their sockets are closed and their outcomes recorded. Past the time
   * limit sockets are cut and outcomes tried once more: what the database does not take then is missing among the
   * deliveries, and nothing else is, since the receiver has had these events and the client knows so.
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

/** Resolves with the promise, or when the time has passed; keeps the process alive meanwhile. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
