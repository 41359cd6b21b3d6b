import type { Transaction } from "../storage/database.ts";
import { firstDue } from "../storage/delivery-queue.ts";
import { enabledEndpoints } from "../storage/webhook-endpoints.ts";
import type { DeliveryLimits } from "./endpoint-queues.ts";
import { shortestWait } from "./retry-schedule.ts";
import type { Job } from "./sender.ts";

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
 * Decides how many attempts an advance of a test clock may begin. Because a user waits for it, an endpoint gets more
 * concurrent attempts than in normal delivery, as long as it keeps up: its window starts at the normal limit, grows by
 * one with each attempt that takes about as long as the fastest, and shrinks by one with each slower one.
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

  /** How many attempts may begin, for all endpoints together. Each advance may use the normal limit, whatever others use. */
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
    const existing = this.#windows.get(endpointId);
    if (existing !== undefined) return existing;
    const window = { size: this.#limits.perEndpoint, open: 0, fastestMs: Infinity };
    this.#windows.set(endpointId, window);
    return window;
  }
}

/** Endpoints with fewer slots are also read this far, to learn when their retries may be due. */
const MIN_READ = 20;

/** Which deliveries of an endpoint to claim. */
interface Share {
  count: number;
  dueBy: number;
}

interface AdvanceState {
  /** The environment's time when it began: what was due before is attempted then. */
  begin: number;
  /** The environment's time that it goes to. */
  endsAt: number;
  /** Each job in flight, with the environment's time at which it began. */
  inFlight: ReadonlyMap<Job, number>;
  slots: AdvanceSlots;
}

/** Selects the attempts to begin now, in order of time, until a retry of one in flight or selected may be due. */
export async function planShares(tx: Transaction, environment: number, state: AdvanceState) {
  const { begin, endsAt, inFlight, slots } = state;
  let horizon = Infinity;
  for (const [{ delivery }, at] of inFlight) {
    horizon = Math.min(horizon, at + shortestWait(delivery.attempt_count + 1));
  }
  const queues = (await enabledEndpoints(tx, environment)).map(async ({ id: endpointId }) => {
    const max = Math.max(MIN_READ, slots.availableAt(endpointId));
    const first = await firstDue(tx, { environment, endpointId, dueAt: endsAt, limit: max + 1 });
    const rows = first.map(({ next_attempt: next, attempt_count: count }) => {
      const at = Math.max(begin, next);
      return { endpointId, next, at, retryAt: at + shortestWait(count + 1) };
    });
    // The deliveries after these are unknown, except that they are due later.
    if (rows.length > max) horizon = Math.min(horizon, rows.at(-1)!.at + shortestWait(1));
    return rows;
  });
  const waiting = (await Promise.all(queues)).flat();
  const shares = new Map<string, Share>();
  let { available } = slots;
  for (const { endpointId, next, at, retryAt } of waiting.toSorted((a, b) => a.at - b.at)) {
    if (at > horizon) break;
    horizon = Math.min(horizon, retryAt);
    const count = shares.get(endpointId)?.count ?? 0;
    if (available <= 0 || count >= slots.availableAt(endpointId)) continue;
    shares.set(endpointId, { count: count + 1, dueBy: next });
    available -= 1;
  }
  return shares;
}
