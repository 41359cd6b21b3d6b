// The window of a listener on simulated connections: events travel, wait for one of the client's forwards, take that
// forward's time, and their acknowledgements travel back.
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/contract/limits.ts";
import { Window } from "../../src/platform/listen/connection.ts";

interface Connection {
  /** All in milliseconds. */
  roundTrip: number;
  forward: number;
  /** From the middle of the time on. */
  laterForward?: number;
  concurrency: number;
  max?: number;
}

/** Sends events for 20 s. Returns the acknowledgements a second and the most waiting events in the last 5 s. */
function simulate(connection: Connection) {
  const { roundTrip, concurrency, max = LIMITS.maxListenWindow } = connection;
  let now = 0;
  const due = new Map<number, (() => void)[]>();
  const after = (milliseconds: number, run: () => void) => {
    const at = now + milliseconds;
    due.set(at, [...(due.get(at) ?? []), run]);
  };
  const window = new Window(max, () => now);
  let sent = 0;
  let running = 0;
  let acknowledged = 0;
  let mostWaiting = 0;
  const waiting: number[] = [];

  const send = () => {
    for (let { room } = window; room > 0; room--) {
      const seq = (sent += 1);
      window.sent(seq, 1_000);
      after(roundTrip / 2, () => receive(seq));
    }
  };
  const receive = (seq: number) => {
    waiting.push(seq);
    startForwards();
    if (now >= 15_000) mostWaiting = Math.max(mostWaiting, waiting.length);
  };
  const startForwards = () => {
    while (running < concurrency && waiting.length > 0) {
      const seq = waiting.shift()!;
      const forward = now < 10_000 ? connection.forward : (connection.laterForward ?? connection.forward);
      running += 1;
      after(forward, () => {
        running -= 1;
        after(roundTrip / 2, () => acknowledge(seq, forward));
        startForwards();
      });
    }
  };
  const acknowledge = (seq: number, forward: number) => {
    window.acknowledged(seq, 1_000, forward);
    if (now >= 15_000) acknowledged += 1;
    send();
  };

  send();
  while (now < 20_000) {
    now = Math.min(...due.keys());
    const runs = due.get(now)!;
    due.delete(now);
    for (const run of runs) run();
  }
  return { perSecond: acknowledged / 5, mostWaiting };
}

describe("the window of a listener", () => {
  it.each([
    { roundTrip: 0, forward: 4, concurrency: 16 },
    { roundTrip: 20, forward: 2, concurrency: 16 },
    { roundTrip: 100, forward: 2, concurrency: 16 },
    { roundTrip: 300, forward: 4, concurrency: 16 },
    { roundTrip: 40, forward: 1_000, concurrency: 500 },
  ])("keeps $concurrency concurrent forwards of $forward ms busy over a round trip of $roundTrip ms", (connection) => {
    const { perSecond, mostWaiting } = simulate(connection);
    const possible = (connection.concurrency * 1000) / connection.forward;
    expect(perSecond).toBeGreaterThan(0.98 * possible);
    expect(mostWaiting).toBeLessThan(2 * LIMITS.minListenWindow + connection.concurrency);
  });

  it("is as small as the client requests", () => {
    expect(simulate({ roundTrip: 100, forward: 2, concurrency: 16, max: 64 }).perSecond).toBeCloseTo(64 / 0.102, -1);
  });

  it("becomes smaller again when the receiver becomes slower", () => {
    const { mostWaiting } = simulate({ roundTrip: 100, forward: 2, laterForward: 20, concurrency: 16 });
    expect(mostWaiting).toBeLessThan(2 * LIMITS.minListenWindow);
  });
});
