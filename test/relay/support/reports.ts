import type { Report } from "../../../src/relay/report.ts";

type Name = Report["event"];
type Of<N extends Name> = Extract<Report, { event: N }>;

/** Records the reports of a session, and lets tests wait for them. */
export class Reports {
  readonly all: Report[] = [];
  #waiters: { isMet: () => boolean; resolve: () => void }[] = [];

  readonly add = (report: Report): void => {
    this.all.push(report);
    const met = this.#waiters.filter(({ isMet }) => isMet());
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter));
    for (const { resolve } of met) resolve();
  };

  of<N extends Name>(name: N): Of<N>[] {
    return this.all.filter((report): report is Of<N> => report.event === name);
  }

  /** Waits for this many reports of a kind, and returns the last. */
  async wait<N extends Name>(name: N, count = 1): Promise<Of<N>> {
    const isMet = () => this.of(name).length >= count;
    if (!isMet()) await new Promise<void>((resolve) => this.#waiters.push({ isMet, resolve }));
    return this.of(name)[count - 1]!;
  }
}
