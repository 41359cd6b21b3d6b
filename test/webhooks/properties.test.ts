import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sign, verify, verifySignature, type VerifyOptions } from "../../src/webhooks/index.ts";
import { NOW, PAYLOAD, rejection, SECRET } from "./deliveries.ts";

const RUNS = { numRuns: 2000 };
const body = fc.uint8Array({ maxLength: 300 });
const secret = fc.string({ unit: "binary", minLength: 1, maxLength: 60 }).filter((text) => text.trim() !== "");
const time = fc.integer({ min: 0, max: 999_999_999_999 });

describe("properties", () => {
  it("any signed bytes verify", () => {
    fc.assert(
      fc.property(body, secret, time, (payload, secrets, timestamp) => {
        const header = sign({ payload, secrets, timestamp });
        expect(verifySignature({ payload, header, secrets, now: timestamp })).toEqual({ timestamp });
      }),
      RUNS,
    );
  });

  it("events are returned as they were sent, as text and as bytes", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), secret, (event, secrets) => {
        const payload = JSON.stringify(event);
        const header = sign({ payload, secrets, timestamp: NOW });
        expect(verify({ payload, header, secrets, now: NOW })).toEqual(JSON.parse(payload));
        expect(verify({ payload: Buffer.from(payload), header, secrets, now: NOW })).toEqual(JSON.parse(payload));
      }),
      RUNS,
    );
  });

  it("one changed bit of the payload fails", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), (payload, position) => {
        const header = sign({ payload, secrets: SECRET, timestamp: NOW });
        const changed = flipBit(payload, position);
        expect(codeOf({ payload: changed, header, secrets: SECRET, now: NOW })).toBe("signature_mismatch");
      }),
      RUNS,
    );
  });

  it("one changed bit of the secret fails", () => {
    fc.assert(
      fc.property(body, fc.stringMatching(/^[!-~]{1,60}$/), fc.nat(), (payload, secrets, position) => {
        const header = sign({ payload, secrets, timestamp: NOW });
        // Flipping one of the low five bits keeps it ASCII without NUL; a blank would be rejected for another reason.
        const bytes = Buffer.from(secrets);
        const index = position % bytes.length;
        bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << (position % 5)), index);
        const other = bytes.toString("latin1");
        fc.pre(other.trim() !== "");
        expect(codeOf({ payload, header, secrets: other, now: NOW })).toBe("signature_mismatch");
      }),
      RUNS,
    );
  });

  it("a t that was not signed fails", () => {
    fc.assert(
      fc.property(body, time, time, (payload, signed, claimed) => {
        fc.pre(signed !== claimed);
        const header = sign({ payload, secrets: SECRET, timestamp: signed }).replace(`t=${signed}`, `t=${claimed}`);
        expect(codeOf({ payload, header, secrets: SECRET, now: claimed })).toBe("signature_mismatch");
      }),
      RUNS,
    );
  });

  it("one changed digit of v1 fails", () => {
    fc.assert(
      fc.property(body, fc.nat({ max: 63 }), fc.integer({ min: 1, max: 15 }), (payload, position, shift) => {
        const header = sign({ payload, secrets: SECRET, timestamp: NOW });
        const at = header.length - 64 + position;
        const digit = ((Number.parseInt(header.charAt(at), 16) + shift) % 16).toString(16);
        const changed = header.slice(0, at) + digit + header.slice(at + 1);
        expect(codeOf({ payload, header: changed, secrets: SECRET, now: NOW })).toBe("signature_mismatch");
      }),
      RUNS,
    );
  });

  it("only the age matters once the signature is valid", () => {
    fc.assert(
      fc.property(fc.integer({ min: -700, max: 700 }), fc.nat({ max: 600 }), (age, tolerance) => {
        const header = sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW });
        const options = { payload: PAYLOAD, header, secrets: SECRET, now: NOW + age, tolerance };
        if (Math.abs(age) <= tolerance) expect(verifySignature(options).timestamp).toBe(NOW);
        else expect(codeOf(options)).toBe(age > 0 ? "timestamp_too_old" : "timestamp_in_future");
      }),
      RUNS,
    );
  });

  it("a rotation verifies exactly if signer and receiver share a secret", () => {
    const secrets = fc.uniqueArray(fc.constantFrom("whsec_a", "whsec_b", "whsec_c", "whsec_d"), { minLength: 1 });
    fc.assert(
      fc.property(body, secrets, secrets, (payload, signers, receivers) => {
        const header = sign({ payload, secrets: signers, timestamp: NOW });
        const options = { payload, header, secrets: receivers, now: NOW };
        if (signers.some((one) => receivers.includes(one))) expect(verifySignature(options).timestamp).toBe(NOW);
        else expect(codeOf(options)).toBe("signature_mismatch");
      }),
      RUNS,
    );
  });

  it("any header text is rejected only with a SignatureError", () => {
    const piece = fc.oneof(
      fc.constantFrom("t", "v1", "v0", "=", ",", " ", `${NOW}`, "NaN", "-1", "a".repeat(64), "é".repeat(64), "\0"),
      fc.string({ unit: "binary", maxLength: 20 }),
    );
    const header = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
      fc.array(fc.tuple(piece, piece), { maxLength: 20 }).map((pairs) => pairs.map((pair) => pair.join("=")).join(",")),
    );
    fc.assert(
      fc.property(header, (header) => {
        rejection(() => verify({ payload: PAYLOAD, header, secrets: SECRET, now: NOW }));
      }),
      { numRuns: 20_000 },
    );
  });

  it("any value for header and payload is rejected only with a SignatureError", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, anything, (header, payload) => {
        rejection(() => verify({ header, payload, secrets: SECRET, now: NOW } as VerifyOptions));
      }),
      { numRuns: 10_000 },
    );
  });

  it("any signed payload is an event or a SignatureError", () => {
    const payload = fc.oneof(body, fc.string({ unit: "binary" }), fc.json());
    fc.assert(
      fc.property(payload, (payload) => {
        const header = sign({ payload, secrets: SECRET, timestamp: NOW });
        try {
          expect(typeof verify({ payload, header, secrets: SECRET, now: NOW })).toBe("object");
        } catch (error) {
          expect(error).toMatchObject({ name: "SignatureError", code: expect.stringMatching(/^payload_not_/) });
        }
      }),
      { numRuns: 10_000 },
    );
  });
});

function codeOf(options: VerifyOptions): string {
  return rejection(() => verifySignature(options)).code;
}

function flipBit(bytes: Uint8Array, position: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const index = position % bytes.length;
  changed[index] = (changed[index] ?? 0) ^ (1 << (position % 8));
  return changed;
}
