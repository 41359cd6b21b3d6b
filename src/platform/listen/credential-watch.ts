import type { Caller } from "../http/caller.ts";
import { refusalOf } from "../http/credentials.ts";
import type { ApiError } from "../domain/api-error.ts";
import type { Services } from "../services.ts";

const LOOK_MS = 1000;

/** What was opened by a credential and stays open. */
export interface Watched {
  /** Ends it, since its credential may not be used any more. */
  refuse(refusal: ApiError): void;
}

/**
 * Ends what was opened by a credential that was revoked or has expired, a second later at most. The database is asked,
 * since another process may have revoked it; once a credential, however much it holds open.
 */
export class CredentialWatch {
  readonly #services: Services;
  readonly #open: ReadonlyMap<Watched, Caller>;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(services: Services, open: ReadonlyMap<Watched, Caller>) {
    this.#services = services;
    this.#open = open;
  }

  /** Looks from now on, while anything is open; to be called when something is opened. */
  start(): void {
    if (this.#stopped) return;
    this.#cancel ??= this.#services.clock.after(LOOK_MS, () => {
      this.#look().catch((error: unknown) => {
        this.#services.log.warn({ err: error }, "the credentials of open connections could not be looked at");
      });
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  async #look(): Promise<void> {
    const { database, clock } = this.#services;
    const looked = new Map<string, ReturnType<typeof refusalOf>>();
    try {
      for (const [watched, { credential }] of this.#open) {
        const refusal = looked.get(credential.id) ?? refusalOf(database, credential, clock.now());
        looked.set(credential.id, refusal);
        const found = await refusal;
        if (found !== undefined) watched.refuse(found);
      }
    } finally {
      this.#cancel = undefined;
      if (this.#open.size > 0) this.start();
    }
  }
}
