import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Queue } from "../../src/relay/queue.ts";

describe("Queue", () => {
  it("returns its items in order after any operations", () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant("push") },
      { weight: 5, arbitrary: fc.constant("shift") },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: "max" }), fc.nat(100), (steps, head) => {
        const queue = new Queue<number>();
        const model: number[] = [];
        let next = 0;
        const push = () => {
          queue.push(next);
          model.push(next++);
        };
        for (let i = 0; i < head; i += 1) push();
        for (const name of steps) {
          if (name === "push") push();
          else expect(queue.shift()).toBe(model.shift());
        }
        expect(queue.size).toBe(model.length);
        expect(model.map((_, i) => queue.at(i))).toEqual(model);
        expect([queue.at(-1), queue.at(model.length)]).toEqual([undefined, undefined]);
        queue.clear();
        expect([queue.size, queue.shift()]).toEqual([0, undefined]);
        queue.push(7);
        expect(queue.shift()).toBe(7);
      }),
    );
  });
});
