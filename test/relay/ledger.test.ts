import fc from "fast-check";
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

  it("resumes behind the last event before which nothing is unacknowledged", () => {
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

  it("takes an id that comes back on the same connection after its confirmation for a replay", () => {
    const [start, stuck, a] = ids(3);
    const ledger = new Ledger();
    ledger.startAt(start!);
    ledger.receive(stuck!, 1);
    const { entry } = ledger.receive(a!, 2);
    ledger.settle(entry, OUTCOME);
    expect(ledger.receive(a!, 3).duplicate).toBe(true);
    ledger.confirm([entry]);
    expect(ledger.receive(a!, 4).duplicate).toBe(false);
  });

  it("is not dragged back by the replay of an old event", () => {
    const [old, start, a] = ids(3);
    const ledger = new Ledger();
    ledger.startAt(start!);
    end(ledger, ledger.receive(a!, 1).entry);
    end(ledger, ledger.receive(old!, 2).entry);
    expect(ledger.cursor).toBe(a);
    expect(ledger.size).toBe(0);
  });

  it("lets go of what the platform does not send again", () => {
    const [old, start, a, b] = ids(4);
    const ledger = new Ledger();
    ledger.startAt(start!);
    const replayed = ledger.receive(old!, 1).entry;
    const settled = ledger.receive(a!, 2).entry;
    ledger.settle(settled, OUTCOME);
    ledger.disconnected();
    expect(ledger.size).toBe(2);
    const next = ledger.receive(b!, 1).entry;
    expect(ledger.size).toBe(3);
    ledger.settle(replayed, OUTCOME);
    expect(ledger.size).toBe(1);
    end(ledger, next);
    expect(ledger.cursor).toBe(b);
  });

  it("keeps the receiver's words only until the platform has them", () => {
    const [start, stuck, a] = ids(3);
    const ledger = new Ledger();
    ledger.startAt(start!);
    ledger.receive(stuck!, 1);
    const { entry } = ledger.receive(a!, 2);
    ledger.settle(entry, { ...OUTCOME, excerpt: "words" });
    expect(entry.outcome?.excerpt).toBe("words");
    ledger.confirm([entry]);
    expect(entry.outcome).toEqual({ ...OUTCOME, excerpt: undefined });
  });

  it("never skips an event that the platform has no acknowledgement of, and never handles one twice", () => {
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
        const read = (count: number) => sent.splice(0, count).map((entry) => (acknowledged.add(entry.id), entry));
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
            ledger.confirm(read(next.count));
          } else if (next.do === "cut") {
            // Some acknowledgements reach the platform although their confirmation does not come back.
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

function ids(count: number): string[] {
  return Array.from({ length: count }, () => newId("event", 1_800_000_000_000));
}

function end(ledger: Ledger, ...entries: Entry[]): void {
  for (const entry of entries) ledger.settle(entry, OUTCOME);
  ledger.confirm(entries);
}
