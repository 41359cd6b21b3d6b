import { describe, expect, it } from "vitest";
import type { Ack } from "../../src/contract/listen.ts";
import { Acknowledgements, Ledger, type Entry } from "../../src/relay/ledger.ts";

describe("Acknowledgements", () => {
  it("holds acknowledgements back while the oldest event is stuck, and then sends all of them", () => {
    const ledger = new Ledger();
    const sent: Ack[] = [];
    const acknowledgements = new Acknowledgements(
      ledger,
      () => 0,
      (ack) => sent.push(ack),
    );
    const entries: Entry[] = [];
    for (let sequence = 1; sequence <= 9_000; sequence += 1) {
      acknowledgements.addReceived();
      entries.push(ledger.receive(`evt_${sequence}`, sequence).entry);
      if (sequence > 1) end(entries.at(-1)!);
    }
    expect(sent).toHaveLength(8_190);
    expect(acknowledgements.unacknowledged).toBe(9_000 - 8_190);
    end(entries[0]!);
    expect(sent.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(entries.map((_, i) => i + 1));
    expect(acknowledgements.unacknowledged).toBe(0);
    acknowledgements.confirm(9_000);
    expect(ledger.size).toBe(0);

    function end(entry: Entry): void {
      ledger.settle(entry, { status: 200, durationMs: 1 });
      acknowledgements.acknowledge(entry);
    }
  });
});
