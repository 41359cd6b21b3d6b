import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { verify as verifyGitHub, sign as signGitHub } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import type { SignatureErrorCode } from "../../src/webhooks/index.ts";
import * as core from "../../src/webhooks/index.ts";
import { type Scheme, SCHEMES, type SchemeName, sign, verify } from "../../src/webhooks/schemes.ts";
import { NOW, OTHER_SECRET, PAYLOAD, rejection, SECRET } from "./deliveries.ts";

const stripe = new Stripe("sk_test_unused");
const STANDARD_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER_STANDARD_SECRET = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
const ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";

const NAMES = Object.keys(SCHEMES) as SchemeName[];
const isBase64 = (name: SchemeName): boolean => "secret" in SCHEMES[name];
const secretOf = (name: SchemeName): string => (isBase64(name) ? STANDARD_SECRET : SECRET);
const otherSecretOf = (name: SchemeName): string => (isBase64(name) ? OTHER_STANDARD_SECRET : OTHER_SECRET);

function signed(scheme: SchemeName, payload = PAYLOAD, timestamp = NOW): Record<string, string> {
  return sign({ scheme, payload, secrets: secretOf(scheme), id: ID, timestamp });
}

describe("sign", () => {
  it("returns the headers of the example that each provider publishes", () => {
    const svix = {
      payload: '{"event_type":"ping","data":{"success":true}}',
      secrets: "whsec_plJ3nmyCDGBKInavdOK15jsl",
      id: "msg_loFOjxBNrRLzqYUf",
      timestamp: 1_731_705_121,
    };
    const svixSignature = "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=";
    expect(sign({ scheme: "svix", ...svix })).toEqual({
      "svix-id": svix.id,
      "svix-timestamp": "1731705121",
      "svix-signature": svixSignature,
    });
    expect(sign({ scheme: "standard", ...svix })).toEqual({
      "webhook-id": svix.id,
      "webhook-timestamp": "1731705121",
      "webhook-signature": svixSignature,
    });
    const hello = { payload: "Hello, World!", secrets: "It's a Secret to Everybody", id: ID };
    expect(sign({ scheme: "github", ...hello })).toEqual({
      "X-GitHub-Delivery": ID,
      "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    });
    const command =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
      "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
      "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
      "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const slack = { payload: command, secrets: "8f742231b10e8888abcd99yyyzzz85a5" };
    const published = {
      "X-Slack-Request-Timestamp": "1531420618",
      "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    expect(sign({ scheme: "slack", ...slack, timestamp: 1_531_420_618 })).toEqual(published);
    expect(verify({ scheme: "slack", ...slack, headers: published, now: 1_531_420_619 })).toEqual({
      timestamp: 1_531_420_618,
    });
  });

  it("returns the HMAC of the body in base64 for Shopify, as its documentation describes", () => {
    expect(signed("shopify")).toEqual({
      "X-Shopify-Webhook-Id": ID,
      "X-Shopify-Hmac-SHA256": createHmac("sha256", SECRET).update(PAYLOAD).digest("base64"),
    });
  });

  it("returns for `service` the header of the platform", () => {
    const secrets = [SECRET, OTHER_SECRET];
    expect(sign({ scheme: "service", payload: PAYLOAD, secrets, timestamp: NOW })).toEqual({
      "Service-Signature": core.sign({ payload: PAYLOAD, secrets, timestamp: NOW }),
    });
  });

  it("uses the clock unless a time is given", () => {
    const headers = sign({ scheme: "standard", payload: PAYLOAD, secrets: STANDARD_SECRET, id: ID });
    expect(Math.abs(Number(headers["webhook-timestamp"]) - Date.now() / 1000)).toBeLessThan(60);
  });

  it.each<[string, Record<string, unknown>, SignatureErrorCode, RegExp]>([
    ["an unknown scheme", { scheme: "toString" }, "invalid_scheme", /none of service, standard/],
    ["a parsed payload", { payload: {} }, "payload_not_raw", /parsed body/],
    ["no secrets", { secrets: [] }, "no_secrets", /is empty: pass/],
    ["a text as its secret", { secrets: "abc" }, "invalid_secret", /a Standard Webhooks secret is base64 after whsec_/],
    ["a secret that is not base64", { secrets: "whsec_a-_b" }, "invalid_secret", /base64 after whsec_/],
    ["a secret with nothing after its prefix", { secrets: "whsec_" }, "invalid_secret", /base64 after whsec_/],
    ["no ID", { id: undefined }, "invalid_id", /webhook-id/],
    ["an ID with a line end", { id: "a\r\nb" }, "invalid_id", /webhook-id/],
    ["milliseconds", { timestamp: NOW * 1000 }, "invalid_timestamp", /milliseconds/],
    [
      "two secrets for one signature",
      { scheme: "github", secrets: ["a", "b"] },
      "too_many_secrets",
      /at most one signature/,
    ],
    ["eleven secrets", { scheme: "stripe", secrets: Array<string>(11).fill("a") }, "too_many_secrets", /at most 10/],
  ])("rejects %s", (_name, options, code, message) => {
    const all = { scheme: "standard", payload: PAYLOAD, secrets: STANDARD_SECRET, id: ID, timestamp: NOW, ...options };
    const error = rejection(() => sign(all as never));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });
});

describe("verify", () => {
  it.each(NAMES)("accepts what sign returns for %s, from Node.js and from the Fetch API", (scheme) => {
    const headers = signed(scheme);
    const { id, timestamp } = SCHEMES[scheme] as Scheme;
    const expected = { ...(timestamp ? { timestamp: NOW } : {}), ...(id?.header ? { id: ID } : {}) };
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    for (const given of [headers, lower, new Headers(headers)]) {
      const options = { scheme, payload: Buffer.from(PAYLOAD), headers: given, now: NOW };
      expect(verify({ ...options, secrets: secretOf(scheme) })).toEqual(expected);
      expect(verify({ ...options, secrets: [otherSecretOf(scheme), secretOf(scheme)] })).toEqual(expected);
    }
  });

  it.each(NAMES)("rejects another body, another secret, another ID and another time of %s", (scheme) => {
    const options = { scheme, payload: PAYLOAD, headers: signed(scheme), secrets: secretOf(scheme), now: NOW };
    const codeOf = (changed: Partial<typeof options>): string =>
      rejection(() => verify({ ...options, ...changed })).code;
    expect(codeOf({ payload: `${PAYLOAD} ` })).toBe("signature_mismatch");
    expect(codeOf({ secrets: otherSecretOf(scheme) })).toBe("signature_mismatch");
    expect(codeOf({ headers: {} })).toBe("header_missing");
    const { signed: template, timestamp, id } = SCHEMES[scheme] as Scheme;
    if (template.includes("{id}")) {
      expect(codeOf({ headers: { ...options.headers, [id!.header!]: "msg_other" } })).toBe("signature_mismatch");
    }
    if (timestamp === undefined) {
      expect(verify({ ...options, now: NOW + 10_000_000 })).toEqual({ id: ID });
      return;
    }
    expect(codeOf({ now: NOW + 301 })).toBe("timestamp_too_old");
    if (timestamp.future) expect(verify({ ...options, now: NOW - 301 }).timestamp).toBe(NOW);
    else expect(codeOf({ now: NOW - 301 })).toBe("timestamp_in_future");
    expect(verify({ ...options, now: NOW + 300 }).timestamp).toBe(NOW);
    expect(verify({ ...options, now: NOW + 400, tolerance: 400 }).timestamp).toBe(NOW);
    const later = JSON.parse(JSON.stringify(options.headers).replaceAll(String(NOW), String(NOW + 1)));
    expect(codeOf({ headers: later })).toBe("signature_mismatch");
  });

  it("accepts any signature of a rotation, and ignores signatures of other kinds", () => {
    const secrets = [OTHER_STANDARD_SECRET, STANDARD_SECRET];
    const headers = sign({ scheme: "svix", payload: PAYLOAD, secrets, id: ID, timestamp: NOW });
    headers["svix-signature"] = `v1a,b3RoZXI= ${headers["svix-signature"]}`;
    for (const secret of secrets) {
      expect(verify({ scheme: "svix", payload: PAYLOAD, headers, secrets: secret, now: NOW })).toEqual({
        id: ID,
        timestamp: NOW,
      });
    }
  });

  it.each<[SchemeName, string, string | string[] | undefined, SignatureErrorCode]>([
    ["github", "X-Hub-Signature-256", "sha1=00", "signature_missing"],
    ["github", "X-Hub-Signature-256", "sha256=00", "signature_malformed"],
    ["github", "X-Hub-Signature-256", `sha256=${"z".repeat(64)}`, "signature_malformed"],
    ["github", "X-Hub-Signature-256", ["sha256=00", "sha256=00"], "header_not_text"],
    ["shopify", "X-Shopify-Hmac-SHA256", "a".repeat(64), "signature_malformed"],
    ["shopify", "X-Shopify-Hmac-SHA256", "a".repeat(5000), "header_too_long"],
    ["standard", "webhook-signature", "hello", "header_malformed"],
    ["standard", "webhook-signature", "v1a,00", "signature_missing"],
    [
      "standard",
      "webhook-signature",
      Array<string>(11)
        .fill(`v1,${"A".repeat(43)}=`)
        .join(" "),
      "too_many_signatures",
    ],
    ["standard", "webhook-timestamp", "2026-11-01T00:00:00Z", "timestamp_malformed"],
    ["standard", "webhook-id", undefined, "header_missing"],
    ["slack", "X-Slack-Request-Timestamp", undefined, "header_missing"],
    ["stripe", "Stripe-Signature", `t=${NOW},t=${NOW}`, "timestamp_repeated"],
    ["stripe", "Stripe-Signature", `v1=${"0".repeat(64)}`, "timestamp_missing"],
    ["stripe", "Stripe-Signature", `t=${NOW}`, "signature_missing"],
  ])("rejects for %s a header %s that reads %s", (scheme, name, value, code) => {
    const headers = { ...signed(scheme), [name]: value };
    expect(
      rejection(() => verify({ scheme, payload: PAYLOAD, headers, secrets: secretOf(scheme), now: NOW })).code,
    ).toBe(code);
  });

  it("rejects a header that an object contains twice", () => {
    const headers = { ...signed("github"), "x-hub-signature-256": signed("github")["X-Hub-Signature-256"] };
    expect(rejection(() => verify({ scheme: "github", payload: PAYLOAD, headers, secrets: SECRET })).code).toBe(
      "header_not_text",
    );
  });

  it("has for `service` the same verdict as the library's own verifier on any header", () => {
    const codeOf = (action: () => unknown): string => {
      try {
        action();
        return "valid";
      } catch (error) {
        return (error as core.SignatureError).code;
      }
    };
    const valid = core.sign({ payload: PAYLOAD, secrets: SECRET, timestamp: NOW });
    const item = fc.constantFrom(
      ...valid.split(","),
      "t=",
      "t=1",
      "t=01",
      "v1=",
      "v1=00",
      "v0=1",
      "x",
      "=",
      "",
      "v1",
      "t",
    );
    const header = fc.oneof(
      fc
        .array(fc.tuple(fc.constantFrom("", " ", "\t"), item).map((parts) => parts.join("")))
        .map((all) => all.join(",")),
      fc.string(),
    );
    fc.assert(
      fc.property(header, fc.constantFrom(0, 300, 301, -301), (text, offset) => {
        const options = { payload: PAYLOAD, secrets: SECRET, now: NOW + offset };
        expect(codeOf(() => verify({ ...options, scheme: "service", headers: { "service-signature": text } }))).toBe(
          codeOf(() => core.verifySignature({ ...options, header: text })),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it("throws only SignatureErrors, whatever the headers contain", () => {
    const value = fc.oneof(fc.string(), fc.anything());
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), value, value, value, (scheme, signature, timestamp, id) => {
        const { signature: place, timestamp: time, id: idPlace } = SCHEMES[scheme] as Scheme;
        const headers = { [place.header]: signature, [time?.header ?? "a"]: timestamp, [idPlace?.header ?? "b"]: id };
        const secrets = secretOf(scheme);
        rejection(() => verify({ scheme, payload: PAYLOAD, headers: headers as never, secrets }));
      }),
    );
    for (const headers of [undefined, null, 1, "x", []]) {
      expect(
        rejection(() => verify({ scheme: "github", payload: PAYLOAD, headers: headers as never, secrets: SECRET }))
          .code,
      ).toBe("header_missing");
    }
  });
});

describe("a scheme of your own", () => {
  const scheme: Scheme = {
    name: "Acme",
    signed: "{body}\n{timestamp}:{id}",
    signature: { header: "Acme-Signature", prefix: "sig:", encoding: "base64", separator: ";" },
    timestamp: { prefix: "at:", tolerance: 10 },
    id: { header: "Acme-Id" },
    secret: { encoding: "base64" },
  };
  const secrets = Buffer.from("the key").toString("base64");

  it("signs and verifies with its template, headers, encodings and tolerance", () => {
    const headers = sign({ scheme, payload: PAYLOAD, secrets, id: ID, timestamp: NOW });
    const mac = createHmac("sha256", "the key").update(`${PAYLOAD}\n${NOW}:${ID}`).digest("base64");
    expect(headers).toEqual({ "Acme-Id": ID, "Acme-Signature": `at:${NOW};sig:${mac}` });
    const options = { scheme, payload: PAYLOAD, headers, secrets };
    expect(verify({ ...options, now: NOW + 10 })).toEqual({ id: ID, timestamp: NOW });
    expect(rejection(() => verify({ ...options, now: NOW + 11 })).code).toBe("timestamp_too_old");
  });

  it.each<[string, Partial<Scheme>, RegExp]>([
    ["a template without the body", { signed: "{id}" }, /signed: must contain \{body\}/],
    ["an unknown placeholder", { signed: "{body}{time}" }, /\{time\} is none of/],
    ["an ID without a header", { id: { path: "id" } }, /\{id\} needs the key id.header/],
    ["a time that is not signed", { signed: "{id}{body}" }, /proves nothing/],
    ["a time in no place", { timestamp: {} }, /either header or prefix/],
    ["a time in a header that is not a list", { signature: { header: "a", encoding: "hex" } }, /signature.separator/],
  ])("is rejected with %s", (_name, changed, message) => {
    const error = rejection(() => sign({ scheme: { ...scheme, ...changed }, payload: PAYLOAD, secrets, id: ID }));
    expect(error).toMatchObject({ code: "invalid_scheme", message: expect.stringMatching(message) });
  });
});

describe("official libraries", () => {
  it("of Stripe verifies what sign returns, and signs what verify accepts", () => {
    const header = signed("stripe")["Stripe-Signature"]!;
    expect(stripe.webhooks.constructEvent(PAYLOAD, header, SECRET, 300, undefined, NOW * 1000)).toEqual(
      JSON.parse(PAYLOAD),
    );
    const theirs = stripe.webhooks.generateTestHeaderString({ payload: PAYLOAD, secret: SECRET, timestamp: NOW });
    const headers = { "stripe-signature": theirs };
    expect(verify({ scheme: "stripe", payload: PAYLOAD, headers, secrets: SECRET, now: NOW })).toEqual({
      timestamp: NOW,
    });
  });

  it("of Standard Webhooks verifies what sign returns, and signs what verify accepts", () => {
    const webhook = new Webhook(STANDARD_SECRET);
    const now = Math.floor(Date.now() / 1000);
    expect(webhook.verify(PAYLOAD, signed("standard", PAYLOAD, now))).toEqual(JSON.parse(PAYLOAD));
    const headers = {
      "webhook-id": ID,
      "webhook-timestamp": String(now),
      "webhook-signature": webhook.sign(ID, new Date(now * 1000), PAYLOAD),
    };
    expect(verify({ scheme: "standard", payload: PAYLOAD, headers, secrets: STANDARD_SECRET })).toEqual({
      id: ID,
      timestamp: now,
    });
  });

  it("of GitHub verifies what sign returns, and signs what verify accepts", async () => {
    expect(await verifyGitHub(SECRET, PAYLOAD, signed("github")["X-Hub-Signature-256"]!)).toBe(true);
    const headers = { "x-hub-signature-256": await signGitHub(SECRET, PAYLOAD) };
    expect(verify({ scheme: "github", payload: PAYLOAD, headers, secrets: SECRET })).toEqual({});
  });
});
