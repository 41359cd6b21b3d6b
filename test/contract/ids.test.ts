import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createIdGenerator,
  ID_PREFIXES,
  type IdKind,
  isId,
  kindOfId,
  lowestIdAt,
  timeOfId,
} from "../../src/contract/ids.ts";

const zeros = () => new Uint8Array(10);
const ones = () => new Uint8Array(10).fill(255);
const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe("IDs", () => {
  it("are a prefix and 22 base62 characters that contain their time", () => {
    fc.assert(
      fc.property(times, fc.uint8Array({ minLength: 10, maxLength: 10 }), (time, random) => {
        for (const kind of Object.keys(ID_PREFIXES) as IdKind[]) {
          const id = createIdGenerator(() => random)(kind, time);
          expect(id).toMatch(new RegExp(`^${ID_PREFIXES[kind]}[0-9A-Za-z]{22}$`));
          expect(isId(kind, id)).toBe(true);
          expect(kindOfId(id)).toBe(kind);
          expect(timeOfId(id)).toBe(time);
        }
      }),
    );
  });

  it("encode a UUID of version 7", () => {
    const id = createIdGenerator(ones)("event", 0);
    const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let value = 0n;
    for (const digit of id.slice(4)) value = value * 62n + BigInt(alphabet.indexOf(digit));
    const hex = value.toString(16).padStart(32, "0");
    expect(hex[12]).toBe("7");
    expect("89ab").toContain(hex[16]);
  });

  it("sort by time, as text", () => {
    fc.assert(
      fc.property(times, times, (a, b) => {
        fc.pre(a < b);
        expect(createIdGenerator(ones)("order", a) < createIdGenerator(zeros)("order", b)).toBe(true);
        expect(lowestIdAt("order", b) > createIdGenerator(ones)("order", a)).toBe(true);
        expect(lowestIdAt("order", b) <= createIdGenerator(zeros)("order", b)).toBe(true);
      }),
    );
  });

  it("strictly increase within a process, whatever the clock and random bytes are", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 2, maxLength: 200 }), (clock) => {
        const newId = createIdGenerator(ones);
        const ids = clock.map((time) => newId("event", time));
        expect([...ids].sort()).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
    const newId = createIdGenerator(ones);
    const flood = Array.from({ length: 10_000 }, () => newId("event", 5));
    expect(flood.every((id, i) => i === 0 || flood[i - 1]! < id)).toBe(true);
  });

  it("are distinguished from other text", () => {
    for (const text of [
      "",
      "evt_",
      "evt_1",
      `evt_${"z".repeat(22)}`,
      `evt_${"0".repeat(21)}-`,
      `cus_${"0".repeat(22)} `,
    ]) {
      expect(kindOfId(text), text).toBeUndefined();
    }
    expect(isId("event", `evt_${"0".repeat(22)}`)).toBe(true);
  });
});
