import * as fc from "fast-check";
import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import { sign, verify } from "../../src/webhooks/index.ts";
import { headerOf, NOW, OTHER_SECRET, PAYLOAD, rejection, SECRET } from "./deliveries.ts";

const stripe = new Stripe("sk_test_unused");

function stripeVerifies(payload: string | Buffer, header: string, secret: string, now = NOW): unknown {
  return stripe.webhooks.constructEvent(payload, header, secret, 300, undefined, now * 1000);
}

describe("interoperability with an independent implementation of the scheme", () => {
  it("its verifier accepts our headers", () => {
    const header = sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW });
    expect(stripeVerifies(PAYLOAD, header, SECRET)).toEqual(JSON.parse(PAYLOAD));
    expect(stripeVerifies(Buffer.from(PAYLOAD), header, SECRET)).toEqual(JSON.parse(PAYLOAD));
  });

  it("its verifier accepts our headers during a rotation, with either secret", () => {
    const header = sign({ payload: PAYLOAD, secrets: [SECRET, OTHER_SECRET], timestamp: NOW });
    expect(stripeVerifies(PAYLOAD, header, SECRET)).toEqual(JSON.parse(PAYLOAD));
    expect(stripeVerifies(PAYLOAD, header, OTHER_SECRET)).toEqual(JSON.parse(PAYLOAD));
  });

  it("our verifier accepts its headers", () => {
    const header = stripe.webhooks.generateTestHeaderString({ payload: PAYLOAD, secret: SECRET, timestamp: NOW });
    expect(verify({ payload: PAYLOAD, header, secrets: SECRET, now: NOW })).toEqual(JSON.parse(PAYLOAD));
  });

  it("both create the same header for any event and secret", () => {
    const event = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue());
    const secret = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => text.trim() !== "");
    fc.assert(
      fc.property(event, secret, fc.nat(), (event, secret, timestamp) => {
        // Stripe's parser distinguishes event kinds by this field.
        fc.pre(!("object" in event));
        const payload = JSON.stringify(event);
        const ours = sign({ payload, secrets: secret, timestamp });
        const theirs = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: timestamp || 1 });
        if (timestamp > 0) expect(ours).toBe(theirs);
        expect(stripeVerifies(payload, ours, secret, timestamp)).toEqual(JSON.parse(payload));
      }),
      { numRuns: 1000 },
    );
  });

  it("both reject another body, another secret and an old t", () => {
    const header = headerOf(PAYLOAD);
    expect(() => stripeVerifies(`${PAYLOAD} `, header, SECRET)).toThrow();
    expect(() => stripeVerifies(PAYLOAD, header, OTHER_SECRET)).toThrow();
    expect(() => stripeVerifies(PAYLOAD, header, SECRET, NOW + 301)).toThrow();
    expect(rejection(() => verify({ payload: `${PAYLOAD} `, header, secrets: SECRET, now: NOW })).code).toBe(
      "signature_mismatch",
    );
    expect(rejection(() => verify({ payload: PAYLOAD, header, secrets: OTHER_SECRET, now: NOW })).code).toBe(
      "signature_mismatch",
    );
    expect(rejection(() => verify({ payload: PAYLOAD, header, secrets: SECRET, now: NOW + 301 })).code).toBe(
      "timestamp_too_old",
    );
  });

  it("our verifier rejects with a SignatureError what the other verifier accepts or fails on", () => {
    const future = headerOf(PAYLOAD, NOW + 10_000);
    expect(stripeVerifies(PAYLOAD, future, SECRET)).toBeDefined();
    expect(rejection(() => verify({ payload: PAYLOAD, header: future, secrets: SECRET, now: NOW })).code).toBe(
      "timestamp_in_future",
    );
    const odd = `t=${NOW},v1=${"é".repeat(64)}`;
    expect(() => stripeVerifies(PAYLOAD, odd, SECRET)).toThrow(RangeError);
    expect(rejection(() => verify({ payload: PAYLOAD, header: odd, secrets: SECRET, now: NOW })).code).toBe(
      "signature_malformed",
    );
  });
});
