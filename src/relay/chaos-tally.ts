import { CHAOS_FAULTS, type ChaosFault, type ChaosSettings } from "./chaos-settings.ts";

/** What receivers did with the deliveries of one kind. */
export interface FaultTally {
  /** Deliveries that reached an end. */
  sent: number;
  /** Answered with 2xx. */
  accepted: number;
  /** Answered with 4xx. */
  refused: number;
  /** Answered otherwise, or not at all. */
  failed: number;
  /** How many of them went as the specification wants it: forgeries refused, everything else accepted. */
  right: number;
}

export interface ChaosSummary {
  /** Given again, it repeats the run. */
  seed: number;
  faults: Partial<Record<ChaosFault, FaultTally>>;
}

/** What a receiver must refuse (platform specification 5.3). */
const FORGERIES: ReadonlySet<ChaosFault> = new Set(["badsig", "stale"]);

/** Counts, for each kind of fault, what the receiver did. */
export class ChaosTally {
  readonly #settings: ChaosSettings;
  readonly #faults: Partial<Record<ChaosFault, FaultTally>> = {};

  constructor(settings: ChaosSettings) {
    this.#settings = settings;
    for (const fault of CHAOS_FAULTS) {
      if (settings[fault] === undefined || settings[fault] === 0) continue;
      this.#faults[fault] = { sent: 0, accepted: 0, refused: 0, failed: 0, right: 0 };
    }
  }

  /** A delivery of that kind has ended, with a status or with none. */
  add(fault: ChaosFault, status: number | undefined): void {
    const tally = this.#faults[fault];
    if (tally === undefined) return;
    const outcome = outcomeOf(status);
    tally.sent += 1;
    tally[outcome] += 1;
    if (outcome === (FORGERIES.has(fault) ? "refused" : "accepted")) tally.right += 1;
  }

  get summary(): ChaosSummary {
    return { seed: this.#settings.seed, faults: this.#faults };
  }
}

function outcomeOf(status: number | undefined): "accepted" | "refused" | "failed" {
  if (status === undefined) return "failed";
  if (status >= 200 && status < 300) return "accepted";
  return status >= 400 && status < 500 ? "refused" : "failed";
}
