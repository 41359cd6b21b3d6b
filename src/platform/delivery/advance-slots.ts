import type { DeliveryLimits } from "./endpoint-queues.ts";

/** An endpoint is not overloaded while its responses take at most this many times as long as the fastest. */
const STEADY_FACTOR = 2;

interface Window {
  /** Attempts that may be in flight. */
  size: number;
  open: number;
  fastestMs: number;
}

/** What all advances of this process have in flight. */
export interface AdvanceTotal {
  open: number;
}

/**
 * How many attempts an advance of a test clock may begin. Somebody waits for it, so an endpoint gets more at once than in
 * ordinary delivery, as long as it keeps up: its window starts at the ordinary limit, grows by one with each attempt that
 * takes about as long as the fastest, and shrinks by one with each that takes longer.
 */
export class AdvanceSlots {
  readonly #limits: DeliveryLimits;
  readonly #total: AdvanceTotal;
  readonly #windows = new Map<string, Window>();
  #open = 0;

  constructor(limits: DeliveryLimits, total: AdvanceTotal) {
    this.#limits = limits;
    this.#total = total;
  }

  /** For all endpoints together. Each advance may have the ordinary limit, whatever others do. */
  get available(): number {
    const { perProcess, allAdvances } = this.#limits;
    return Math.max(0, perProcess - this.#open, allAdvances - this.#total.open);
  }

  availableAt(endpointId: string): number {
    const { size, open } = this.#window(endpointId);
    return Math.max(0, size - open);
  }

  begin(endpointId: string): void {
    this.#window(endpointId).open += 1;
    this.#open += 1;
    this.#total.open += 1;
  }

  /** `durationMs` is undefined if nothing was sent. */
  end(endpointId: string, durationMs: number | undefined): void {
    const window = this.#window(endpointId);
    window.open -= 1;
    this.#open -= 1;
    this.#total.open -= 1;
    if (durationMs === undefined) return;
    window.fastestMs = Math.min(window.fastestMs, durationMs);
    const isSteady = durationMs <= STEADY_FACTOR * window.fastestMs;
    window.size = Math.max(this.#limits.perEndpoint, window.size + (isSteady ? 1 : -1));
  }

  #window(endpointId: string): Window {
    const known = this.#windows.get(endpointId);
    if (known !== undefined) return known;
    const window = { size: this.#limits.perEndpoint, open: 0, fastestMs: Infinity };
    this.#windows.set(endpointId, window);
    return window;
  }
}
