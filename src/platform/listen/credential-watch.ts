import type { Caller } from "../http/caller.ts";
import { refusalOf } from "../http/credentials.ts";
import type { Services } from "../services.ts";
import type { ListenSession } from "./session.ts";

const LOOK_MS = 1000;

/**
 * Ends the sessions whose credential was revoked or has expired, a second later at most. The database is asked, since
 * another process may have revoked it; once a credential, however many sessions it has.
 */
export class CredentialWatch {
  private readonly services: Services;
  private readonly sessions: ReadonlyMap<ListenSession, Caller>;
  private cancel: (() => void) | undefined;
  private stopped = false;

  constructor(services: Services, sessions: ReadonlyMap<ListenSession, Caller>) {
    this.services = services;
    this.sessions = sessions;
  }

  /** Looks from now on, while there are sessions; to be called when one begins. */
  start(): void {
    if (this.stopped) return;
    this.cancel ??= this.services.clock.after(LOOK_MS, () => {
      this.look().catch((error: unknown) => {
        this.services.log.warn({ err: error }, "the credentials of listeners could not be looked at");
      });
    });
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
  }

  private async look(): Promise<void> {
    const { database, clock } = this.services;
    const looked = new Map<string, ReturnType<typeof refusalOf>>();
    try {
      for (const [session, { credential }] of this.sessions) {
        const refusal = looked.get(credential.id) ?? refusalOf(database, credential, clock.now());
        looked.set(credential.id, refusal);
        const found = await refusal;
        if (found !== undefined) void session.close(1008, { code: found.code, message: found.message });
      }
    } finally {
      this.cancel = undefined;
      if (this.sessions.size > 0) this.start();
    }
  }
}
