import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIdGenerator } from "../../src/contract/ids.ts";
import { Ledger, type Entry } from "../../src/relay/ledger.ts";

const newId = createIdGenerator((size) => new Uint8Array(size));
const OUTCOME = { status: 200, durationMs: 1 };

describe("Ledger", () => {
  it("resumes where the session started until something is acknowledged", () => {
    const [start, first] = ids(2);
    const ledger = new Ledger();
    ledger.startAt(start!);
    ledger.receive(first!, 1);
    expect(ledger.cursor).toBe(start);
    ledger.startAt(first!);
    expect(ledger.cursor).toBe(start);
  });

  it("resumes after the last event without unacknowledged ones before it", () => {
    const [start, a, b, c] = ids(4);
    const ledger = new Ledger();
    ledger.startAt(start!);
    const entries = [a!, b!, c!].map((id, i) => ledger.receive(id, i + 1).entry);
    end(ledger, entries[0]!, entries[2]!);
    expect(ledger.cursor).toBe(a);
    end(ledger, entries[1]!);
    expect(ledger.cursor).toBe(c);
  });

  it("does not trust an acknowledgement before it is confirmed", () => {
    const [start, a] = ids(2);
    const ledger = new Ledger();
    ledger.startAt(start!);
    const { entry } = ledger.receive(a!, 1);
    ledger.settle(entry, OUTCOME);
    expect(ledger.cursor).toBe(start);
    ledger.disconnected();
    expect(ledger.receive(a!, 1)).toEqual({ entry, duplicate: true });
    expect(entry.sequences).toEqual([1]);
  });

  it("forgets events that the platform does not send again", () => {
    const [start, gone, again, next] = ids(4);
    const ledger = new Ledger();
    ledger.startAt(start!);
    const running = ledger.receive(gone!, 1).entry;
    ledger.settle(ledger.receive(again!, 2).entry, OUTCOME);
    ledger.disconnected();
    expect(ledger.receive(again!, 1).duplicate).toBe(true);
    expect(ledger.size).toBe(2);
    ledger.settle(running, OUTCOME);
    expect(ledger.cursor).toBe(gone);
    ledger.disconnected();
    end(ledger, ledger.receive(next!, 1).entry);
    expect(ledger.cursor).toBe(next);
    expect(ledger.size).toBe(0);
  });

  it("remembers handled events for a while", () => {
    const log = ids(1_001);
    const ledger = new Ledger();
    ledger.startAt(log[0]!);
    for (const id of log.slice(1)) end(ledger, ledger.receive(id, 1).entry);
    expect(ledger.receive(log[489]!, 2).duplicate).toBe(true);
    ledger.disconnected();
    expect(ledger.receive(log[1_000]!, 1).duplicate).toBe(true);
    expect(ledger.receive(log[488]!, 2).duplicate).toBe(false);
    expect(ledger.cursor).toBe(log[1_000]);
  });

  it("does not grow with the events that have passed", () => {
    const ledger = new Ledger();
    const before = heapAfterCollection();
    for (let i = 1; i <= 200_000; i += 1) end(ledger, ledger.receive(`evt_${i}`, i).entry);
    expect(ledger.size).toBe(0);
    expect(heapAfterCollection() - before).toBeLessThan(5_000_000);
  });

  it("keeps the receiver's response only until the platform has it", () => {
    const [start, stuck, a] = ids(3);
    const ledger = new Ledger();
    ledger.startAt(start!);
    ledger.receive(stuck!, 1);
    const { entry } = ledger.receive(a!, 2);
    ledger.settle(entry, { ...OUTCOME, excerpt: "words" });
    expect(entry.outcome?.excerpt).toBe("words");
    ledger.confirm(entry);
    expect(entry.outcome).toEqual({ ...OUTCOME, excerpt: undefined });
  });

  it("never skips an event that the platform has not confirmed, and never handles one twice", () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ do: fc.constant("send" as const) }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant("settle" as const), pick: fc.nat() }) },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant("confirm" as const), count: fc.integer({ min: 1, max: 4 }) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("cut" as const), read: fc.nat(4) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const log = ids(201);
        const ledger = new Ledger();
        ledger.startAt(log[0]!);
        let position = 1;
        let sequence = 0;
        let handled: Entry[] = [];
        let sent: Entry[] = [];
        const acknowledged = new Set<string>();
        const started = new Set<string>();
        const read = (count: number) => sent.splice(0, count).map((entry) => (acknowledged.add(entry.cursor), entry));
        for (const next of steps) {
          if (next.do === "send" && position < log.length) {
            const id = log[position++]!;
            const { entry, duplicate } = ledger.receive(id, ++sequence);
            expect(duplicate).toBe(started.has(id));
            started.add(id);
            if (!duplicate) handled.push(entry);
            else if (entry.outcome !== undefined) sent.push(entry);
          } else if (next.do === "settle" && handled.length > 0) {
            const [entry] = handled.splice(next.pick % handled.length, 1);
            ledger.settle(entry!, OUTCOME);
            if (entry!.arrived) sent.push(entry!);
          } else if (next.do === "confirm") {
            for (const entry of read(next.count)) ledger.confirm(entry);
          } else if (next.do === "cut") {
            // Some acknowledgements reach the platform although their confirmation is lost.
            read(next.read);
            sent = [];
            ledger.disconnected();
            position = log.indexOf(ledger.cursor!) + 1;
            for (const id of log.slice(1, position)) expect(acknowledged).toContain(id);
          }
        }
      }),
    );
  });
});

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

function ids(count: number): string[] {
  return Array.from({ length: count }, () => newId("event", 1_800_000_000_000));
}

function end(ledger: Ledger, ...entries: Entry[]): void {
  for (const entry of entries) ledger.settle(entry, OUTCOME);
  for (const entry of entries) ledger.confirm(entry);
}
