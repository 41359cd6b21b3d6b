import { describe, expect, it } from "vitest";
import {
  SIGNATURE_HEADER,
  SIGNATURE_HEADER_DISPLAY,
  SignatureError,
  type SignatureErrorCode,
  TOLERANCE_SECONDS,
  verify,
  type VerifyOptions,
  verifySignature,
} from "../../src/webhooks/index.ts";
import { EVENT, headerOf, NOW, PAYLOAD, refusal, SECRET } from "./deliveries.ts";
import { ACCEPTED, REJECTED, type Vector } from "./signature-vectors.ts";

/** Vectors hold what no type allows: a program without types can pass it all the same. */
function optionsOf(vector: Vector): VerifyOptions {
  const { payload = PAYLOAD, secrets = SECRET, now = NOW, tolerance } = vector;
  return {
    payload: ("payload" in vector ? vector.payload : payload) as string,
    header: vector.header as string,
    secrets,
    now,
    tolerance,
  };
}

describe("accepted deliveries", () => {
  it.each(ACCEPTED)("$name", (vector) => {
    const options = optionsOf(vector);
    const text = Buffer.from(options.payload as Uint8Array).toString("utf8");
    expect(verify(options)).toEqual(JSON.parse(text.replace("\uFEFF", "")));
  });
});

describe("refused deliveries", () => {
  it.each(REJECTED)("$name: $code", (vector) => {
    expect(refusal(() => verify(optionsOf(vector))).code).toBe(vector.code);
  });
});

describe("MACs made with openssl", () => {
  const known: Array<[string, string | Uint8Array, string, string, number]> = [
    [
      "an event",
      '{"id":"evt_1","object":"event","type":"order.completed"}',
      "t=1700000000,v1=77bb745991c965f5fa17d6f0436c863c783edd48845545eef6004234870853e6",
      SECRET,
      NOW,
    ],
    [
      "unicode",
      '{"name":"Zoë 🐶"}',
      "t=1700000000,v1=73bc88fb6dbf151d0d30c091e5252f3f3e4ca6520bed035b823a8b9bdcd5196f",
      SECRET,
      NOW,
    ],
    [
      "bytes that are no text",
      Uint8Array.of(0xff, 0xfe, 0x00, 0x01),
      "t=1700000000,v1=1c77a902feb06f8f8b2dc9e9d3bf4f823ca874620bf1615cd50ae6fa7ea07d93",
      SECRET,
      NOW,
    ],
    ["nothing, at 0", "", "t=0,v1=6b4a4b8b3c40f1e8f53a3d36682e5f99f7ad2ac1df1c93dfe336f329167641e7", "k", 0],
  ];
  it.each(known)("%s", (_name, payload, header, secrets, now) => {
    expect(verifySignature({ payload, header, secrets, now })).toEqual({ timestamp: now });
  });
});

describe("bad options", () => {
  const bad: Array<[string, Record<string, unknown>, SignatureErrorCode]> = [
    ["no secrets", { secrets: undefined }, "no_secrets"],
    ["null for secrets", { secrets: null }, "no_secrets"],
    ["an empty list", { secrets: [] }, "no_secrets"],
    ["an empty secret", { secrets: "" }, "empty_secret"],
    ["a blank secret", { secrets: " \n" }, "empty_secret"],
    ["an empty secret among others", { secrets: [SECRET, ""] }, "empty_secret"],
    ["an unset secret among others", { secrets: [SECRET, undefined] }, "invalid_secret"],
    ["a hole in the list", { secrets: [SECRET, , SECRET] }, "invalid_secret"], // oxlint-disable-line no-sparse-arrays -- a hole is the case
    ["a number for secrets", { secrets: 5 }, "invalid_secret"],
    ["a Buffer for a secret", { secrets: [Buffer.from(SECRET)] }, "invalid_secret"],
    ["a tolerance that is no number", { tolerance: Number.NaN }, "invalid_tolerance"],
    ["a tolerance without end", { tolerance: Number.POSITIVE_INFINITY }, "invalid_tolerance"],
    ["a negative tolerance", { tolerance: -1 }, "invalid_tolerance"],
    ["a tolerance as text", { tolerance: "300" }, "invalid_tolerance"],
    ["a now that is no number", { now: Number.NaN }, "invalid_now"],
    ["a Date for now", { now: new Date() }, "invalid_now"],
  ];
  it.each(bad)("%s", (_name, options, code) => {
    const all = { payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now: NOW, ...options };
    expect(refusal(() => verify(all as VerifyOptions)).code).toBe(code);
  });
});

describe("what comes back", () => {
  it("is the event, typed", () => {
    const event = verify({ payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now: NOW });
    expect([event.id, event.type]).toEqual([EVENT.id, "order.completed"]);
    expect(event.type === "order.completed" && event.data.object.currency).toBe("EUR");
  });

  it("is nothing parsed where only the signature is verified", () => {
    const header = headerOf("not JSON");
    expect(verifySignature({ payload: "not JSON", header, secrets: SECRET, now: NOW })).toEqual({ timestamp: NOW });
  });

  it("uses the clock where no time is given", () => {
    const seconds = Math.floor(Date.now() / 1000);
    const at = (t: number) => verify({ payload: PAYLOAD, header: headerOf(PAYLOAD, t), secrets: SECRET });
    expect(at(seconds).id).toBe(EVENT.id);
    expect(refusal(() => at(seconds - 400)).code).toBe("timestamp_too_old");
    expect(refusal(() => at(seconds + 400)).code).toBe("timestamp_in_future");
  });

  it("says in words which rule failed and what to do", () => {
    const at = (now: number) =>
      refusal(() => verify({ payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now }));
    expect(at(NOW + 412).message).toMatch(/t is 412 s old; tolerance 300 s: check the receiver's clock/);
    expect(at(NOW - 412).message).toMatch(/t is 412 s ahead; tolerance 300 s: check the receiver's clock/);
  });

  it("names what was given instead of a body or a header", () => {
    const instead = (options: object) => {
      const all = { payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now: NOW, ...options };
      return refusal(() => verify(all)).message;
    };
    expect(instead({ payload: EVENT })).toMatch(/^the payload is an object, perhaps a parsed body: pass the raw/);
    expect(instead({ payload: 5 })).toMatch(/^the payload is a number: pass the raw/);
    expect(instead({ header: new Headers() })).toMatch(/ header is an object: pass its single value/);
  });

  it("never repeats a secret or a MAC in a message", () => {
    for (const vector of REJECTED) {
      const { message } = refusal(() => verify(optionsOf(vector)));
      expect(message).not.toMatch(/whsec_\w|[0-9a-f]{32}/);
      expect(message.length).toBeLessThan(300);
    }
  });

  it("carries the parser's own error as cause only", () => {
    const error = refusal(() =>
      verify({ payload: "pin=1234", header: headerOf("pin=1234"), secrets: SECRET, now: NOW }),
    );
    expect(error.cause).toBeInstanceOf(SyntaxError);
    expect(error.message).not.toContain("1234");
  });

  it("is an Error with a name", () => {
    const error = new SignatureError("header_missing", "gone");
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe("SignatureError: gone");
  });

  it("names the constants of the specification", () => {
    expect(TOLERANCE_SECONDS).toBe(300);
    expect(SIGNATURE_HEADER_DISPLAY).toBe("Service-Signature");
    expect(SIGNATURE_HEADER).toBe(SIGNATURE_HEADER_DISPLAY.toLowerCase());
  });
});
