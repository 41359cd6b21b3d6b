import { describe, expect, it } from "vitest";
import { sign, signAsync, type SignatureErrorCode, type SignOptions, verify } from "../../src/webhooks/index.ts";
import { EVENT, headerOf, macOf, NOW, OTHER_SECRET, PAYLOAD, rejection, SECRET } from "./deliveries.ts";

describe("sign", () => {
  it("writes t and one lower-case v1", () => {
    expect(sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW })).toBe(headerOf(PAYLOAD));
  });

  it("returns the same header for a string, bytes, Buffers and ArrayBuffers, and signAsync does too", async () => {
    const text = '{"name":"Zoë 🐶"}';
    const bytes = new TextEncoder().encode(text);
    for (const payload of [text, bytes, Buffer.from(text), bytes.buffer]) {
      expect(sign({ payload, secrets: SECRET, timestamp: NOW })).toBe(headerOf(text));
      expect(await signAsync({ payload, secrets: SECRET, timestamp: NOW })).toBe(headerOf(text));
    }
  });

  it("writes one v1 for each secret, in their order", () => {
    expect(sign({ payload: PAYLOAD, secrets: [SECRET, OTHER_SECRET], timestamp: NOW })).toBe(
      `t=${NOW},v1=${macOf(PAYLOAD)},v1=${macOf(PAYLOAD, NOW, OTHER_SECRET)}`,
    );
  });

  it("lets a receiver with either secret verify during a rotation", () => {
    const header = sign({ payload: PAYLOAD, secrets: [SECRET, OTHER_SECRET], timestamp: NOW });
    for (const secrets of [SECRET, OTHER_SECRET, [OTHER_SECRET, SECRET], ["whsec_older", OTHER_SECRET]]) {
      expect(verify({ payload: PAYLOAD, header, secrets, now: NOW })).toEqual(EVENT);
    }
    const after = sign({ payload: PAYLOAD, secrets: OTHER_SECRET, timestamp: NOW });
    expect(rejection(() => verify({ payload: PAYLOAD, header: after, secrets: SECRET, now: NOW })).code).toBe(
      "signature_mismatch",
    );
  });

  it("uses the clock unless a time is given", () => {
    const before = Math.floor(Date.now() / 1000);
    const t = Number(/^t=(\d+),/.exec(sign({ payload: PAYLOAD, secrets: SECRET }))?.[1]);
    expect(t).toBeGreaterThanOrEqual(before);
    expect(t).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));
  });

  it("accepts ten secrets and rejects eleven", () => {
    const secrets = Array.from({ length: 11 }, (_, index) => `whsec_${index}`);
    const header = sign({ payload: PAYLOAD, secrets: secrets.slice(0, 10), timestamp: NOW });
    expect(verify({ payload: PAYLOAD, header, secrets: "whsec_9", now: NOW })).toEqual(EVENT);
    expect(rejection(() => sign({ payload: PAYLOAD, secrets })).code).toBe("too_many_secrets");
  });

  const bad: Array<[string, Record<string, unknown>, SignatureErrorCode]> = [
    ["no secrets", { secrets: undefined }, "no_secrets"],
    ["an empty secret", { secrets: "" }, "empty_secret"],
    ["a secret that is not a string", { secrets: [1] }, "invalid_secret"],
    ["a parsed payload", { payload: EVENT }, "payload_not_raw"],
    ["no payload", { payload: undefined }, "payload_not_raw"],
    ["milliseconds", { timestamp: NOW * 1000 }, "invalid_timestamp"],
    ["a fraction", { timestamp: NOW + 0.5 }, "invalid_timestamp"],
    ["a negative time", { timestamp: -1 }, "invalid_timestamp"],
    ["no number", { timestamp: Number.NaN }, "invalid_timestamp"],
    ["a number too large to write without an exponent", { timestamp: 1e21 }, "invalid_timestamp"],
    ["a time as text", { timestamp: "1700000000" }, "invalid_timestamp"],
  ];
  it.each(bad)("rejects %s, and signAsync does too", async (_name, options, code) => {
    const all = { payload: PAYLOAD, secrets: SECRET, timestamp: NOW, ...options };
    expect(rejection(() => sign(all as SignOptions)).code).toBe(code);
    await expect(signAsync(all as SignOptions)).rejects.toMatchObject({ name: "SignatureError", code });
  });
});
