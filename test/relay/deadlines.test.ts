import { describe, expect, it } from "vitest";
import { Deadlines, type Expirable } from "../../src/relay/deadlines.ts";
import { FakeClock } from "./support/fake-clock.ts";

describe("Deadlines", () => {
  it("expire what is still there, each at its own time, on one timer", () => {
    const clock = new FakeClock();
    const running = new Set<Expirable>();
    const deadlines = new Deadlines(10_000, clock, () => running);
    const expired: [string, number][] = [];
    const begin = (name: string) => {
      const item = {
        startedAt: clock.now(),
        expire() {
          running.delete(item);
          expired.push([name, clock.now()]);
        },
      };
      running.add(item);
      deadlines.began();
      return item;
    };
    begin("a");
    clock.advance(1_000);
    const b = begin("b");
    clock.advance(1_500);
    begin("c");
    expect(clock.waiting).toHaveLength(1);
    running.delete(b);
    clock.advance(60_000);
    expect(expired).toEqual([
      ["a", 10_000],
      ["c", 12_500],
    ]);
    expect(clock.waiting).toEqual([]);
  });

  it("are forgotten when closed", () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(10_000, clock, () => []);
    deadlines.began();
    deadlines.close();
    expect(clock.waiting).toEqual([]);
  });
});
