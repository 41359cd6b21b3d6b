import type { Duplex } from "node:stream";
import { Periodic } from "../periodic.ts";
import type { Services } from "../services.ts";
import { StorageUnavailableError } from "../storage/database.ts";
import { countSessionsElsewhere, deleteOldListenerCounts, keepListenerCount } from "../storage/listener-counts.ts";
import { touchListeners } from "../storage/listeners.ts";

/** So often a process says that its sessions are still there. */
const TELL_MILLISECONDS = 15_000;
/** A process that has said nothing for so long has died, and its sessions with it. */
const SILENT_MILLISECONDS = 3 * TELL_MILLISECONDS;
const DAY_MILLISECONDS = 86_400_000;

interface Listener {
  id: string;
  environment: number;
}

/**
 * Who listens: keeps in the database that the listeners of this process are still used, and where several processes
 * share it, how many sessions each of them has.
 */
export class Presence {
  readonly #services: Services;
  readonly #process: string;
  readonly #present = new Set<Listener>();
  readonly #isAlone: boolean;
  readonly #telling: Periodic;
  readonly #seeing: Periodic;
  /** Environments whose count has changed since it was last said. */
  readonly #untold = new Set<number>();
  #saying: Promise<void> | undefined;

  constructor(services: Services) {
    this.#services = services;
    this.#process = Buffer.from(services.random.bytes(12)).toString("base64url");
    this.#isAlone = services.database.dialect === "sqlite";
    this.#telling = new Periodic(services, TELL_MILLISECONDS, () => this.#tellAgain());
    this.#seeing = new Periodic(services, DAY_MILLISECONDS, () => this.#see());
    this.#seeing.start();
    if (!this.#isAlone) this.#telling.start();
  }

  /**
   * Counts a session in until its connection is closed; answers how many others listen to its environment, at whichever
   * process. Of two that come at once, one at least is told of the other.
   */
  async enter({ id, environment }: Listener, connection: Duplex): Promise<number> {
    if (connection.destroyed) return 0;
    const listener = { id, environment };
    const others = this.#sessionsIn(environment);
    this.#present.add(listener);
    connection.once("close", () => {
      this.#present.delete(listener);
      if (!this.#isAlone) void this.#tell(environment);
    });
    if (this.#isAlone) return others;
    await this.#tell(environment);
    const { database, clock } = this.#services;
    const since = clock.now() - SILENT_MILLISECONDS;
    return others + (await countSessionsElsewhere(database, environment, this.#process, since));
  }

  /** Resolves once what has changed is said. */
  async close(): Promise<void> {
    await Promise.all([this.#telling.stop(), this.#seeing.stop()]);
    await this.#saying;
  }

  #sessionsIn(environment: number): number {
    return [...this.#present].filter((listener) => listener.environment === environment).length;
  }

  /** Says how many listen to an environment; changes that come meanwhile are said after it, together. Never rejects. */
  #tell(environment: number): Promise<void> {
    this.#untold.add(environment);
    this.#saying ??= this.#say().finally(() => (this.#saying = undefined));
    return this.#saying;
  }

  async #say(): Promise<void> {
    const { database, clock, log } = this.#services;
    while (this.#untold.size > 0) {
      const environments = [...this.#untold];
      this.#untold.clear();
      try {
        await database.write(
          async (tx) => {
            for (const environment of environments) {
              const process = this.#process;
              const sessions = this.#sessionsIn(environment);
              await keepListenerCount(tx, { environment, process, sessions, told_at: clock.now() });
            }
          },
          { isolation: "read committed" },
        );
      } catch (error) {
        // A database that is away hears the number the next time; what was said before ends by itself.
        if (!(error instanceof StorageUnavailableError)) log.error({ err: error }, "listeners could not be counted");
      }
    }
  }

  async #tellAgain(): Promise<void> {
    const { database, clock } = this.#services;
    await Promise.all(
      [...new Set([...this.#present].map(({ environment }) => environment))].map((one) => this.#tell(one)),
    );
    await database.write((tx) => deleteOldListenerCounts(tx, clock.now() - SILENT_MILLISECONDS), {
      isolation: "read committed",
    });
  }

  async #see(): Promise<void> {
    const { database, clock } = this.#services;
    const ids = [...new Set([...this.#present].map(({ id }) => id))];
    await database.write((tx) => touchListeners(tx, ids, clock.now()));
  }
}
