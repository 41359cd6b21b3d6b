import { describe, expect, it } from "vitest";
import {
  SIGNATURE_HEADER,
  SIGNATURE_HEADER_DISPLAY,
  SignatureError,
  type SignatureErrorCode,
  TOLERANCE_SECONDS,
  verify,
  verifyAsync,
  type VerifyOptions,
  verifySignature,
  verifySignatureAsync,
} from "../../src/webhooks/index.ts";
import { EVENT, headerOf, NOW, PAYLOAD, rejection, SECRET } from "./deliveries.ts";
import { ACCEPTED, REJECTED, type Vector } from "./signature-vectors.ts";

/** Vectors contain values that the types forbid, which untyped programs can still pass. */
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

describe("verify and verifyAsync accept", () => {
  it.each(ACCEPTED)("$name", async (vector) => {
    const options = optionsOf(vector);
    const { payload } = options;
    const bytes = ArrayBuffer.isView(payload)
      ? new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength)
      : Buffer.from(payload as string);
    const event: unknown = JSON.parse(Buffer.from(bytes).toString("utf8").replace("\uFEFF", ""));
    expect(verify(options)).toEqual(event);
    expect(await verifyAsync(options)).toEqual(event);
    expect(await verifySignatureAsync(options)).toEqual(verifySignature(options));
  });
});

describe("verify and verifyAsync reject", () => {
  it.each(REJECTED)("$name with $code", async (vector) => {
    const options = optionsOf(vector);
    const { code, message } = rejection(() => verify(options));
    expect(code).toBe(vector.code);
    await expect(verifyAsync(options)).rejects.toMatchObject({ name: "SignatureError", code, message });
  });
});

describe("verifyAsync", () => {
  it("returns the event that was signed, even if the buffer changes during the verification", async () => {
    const payload = Buffer.from(PAYLOAD);
    const event = verifyAsync({ payload, header: headerOf(PAYLOAD), secrets: SECRET, now: NOW });
    payload.fill(" ");
    expect(await event).toEqual(EVENT);
  });
});

describe("verifySignature accepts MACs from openssl of", () => {
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
      "bytes that are not text",
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

describe("verify and verifyAsync reject options with", () => {
  const bad: Array<[string, Record<string, unknown>, SignatureErrorCode]> = [
    ["no secrets", { secrets: undefined }, "no_secrets"],
    ["null for secrets", { secrets: null }, "no_secrets"],
    ["an empty list", { secrets: [] }, "no_secrets"],
    ["an empty secret", { secrets: "" }, "empty_secret"],
    ["a blank secret", { secrets: " \n" }, "empty_secret"],
    ["an empty secret among others", { secrets: [SECRET, ""] }, "empty_secret"],
    ["only unset secrets", { secrets: [undefined, undefined] }, "no_secrets"],
    ["null among others", { secrets: [SECRET, null] }, "invalid_secret"],
    ["a number for secrets", { secrets: 5 }, "invalid_secret"],
    ["a Buffer for a secret", { secrets: [Buffer.from(SECRET)] }, "invalid_secret"],
    ["a tolerance that is not a number", { tolerance: Number.NaN }, "invalid_tolerance"],
    ["a tolerance without end", { tolerance: Number.POSITIVE_INFINITY }, "invalid_tolerance"],
    ["a negative tolerance", { tolerance: -1 }, "invalid_tolerance"],
    ["a tolerance as text", { tolerance: "300" }, "invalid_tolerance"],
    ["a now that is not a number", { now: Number.NaN }, "invalid_now"],
    ["a Date for now", { now: new Date() }, "invalid_now"],
  ];
  it.each(bad)("%s", async (_name, options, code) => {
    const all = { payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now: NOW, ...options };
    expect(rejection(() => verify(all as VerifyOptions)).code).toBe(code);
    await expect(verifyAsync(all as VerifyOptions)).rejects.toMatchObject({ name: "SignatureError", code });
  });
});

describe("secrets from the environment", () => {
  it("may be unset, except one", () => {
    const signed = { payload: PAYLOAD, header: headerOf(PAYLOAD), now: NOW };
    expect(verify({ ...signed, secrets: [undefined, SECRET] })).toEqual(EVENT);
    expect(verify({ ...signed, secrets: [SECRET, undefined] })).toEqual(EVENT);
    const unset = process.env["SERVICE_UNSET_SECRET"];
    expect(rejection(() => verify({ ...signed, secrets: unset })).message).toMatch(/is its variable set/);
  });
});

describe("the status of a SignatureError", () => {
  const statusOf = (options: Partial<VerifyOptions>) => {
    const all = { payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now: NOW, ...options };
    const { status, statusCode } = rejection(() => verify(all));
    expect(statusCode).toBe(status);
    return status;
  };

  it("is 400 for a delivery that is forged, old or malformed", () => {
    for (const header of [`t=${NOW},v1=${"0".repeat(64)}`, headerOf(PAYLOAD, NOW - 400), "v1", undefined]) {
      expect(statusOf({ header })).toBe(400);
    }
  });

  it("is 500 for faults of the receiver", () => {
    for (const fault of [{ secrets: [] }, { secrets: "" }, { tolerance: -1 }, { now: Number.NaN }]) {
      expect(statusOf(fault)).toBe(500);
    }
    expect(statusOf({ payload: EVENT as unknown as string })).toBe(500);
  });
});

describe("the result of verify", () => {
  it("is the event, typed by its type", () => {
    const event = verify({ payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now: NOW });
    expect([event.id, event.type]).toEqual([EVENT.id, "order.completed"]);
    expect(event.type === "order.completed" && event.data.object.currency).toBe("EUR");
  });

  it("is the timestamp alone if only the signature is verified", () => {
    const header = headerOf("not JSON");
    expect(verifySignature({ payload: "not JSON", header, secrets: SECRET, now: NOW })).toEqual({ timestamp: NOW });
  });

  it("depends on the clock unless a time is given", () => {
    const seconds = Math.floor(Date.now() / 1000);
    const at = (t: number) => verify({ payload: PAYLOAD, header: headerOf(PAYLOAD, t), secrets: SECRET });
    expect(at(seconds).id).toBe(EVENT.id);
    expect(rejection(() => at(seconds - 400)).code).toBe("timestamp_too_old");
    expect(rejection(() => at(seconds + 400)).code).toBe("timestamp_in_future");
  });

  it("reports the rule that failed and the fix", () => {
    const at = (now: number) =>
      rejection(() => verify({ payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now }));
    expect(at(NOW + 412).message).toMatch(/t is 412 s old; tolerance 300 s: check the receiver's clock/);
    expect(at(NOW - 412).message).toMatch(/t is 412 s ahead; tolerance 300 s: check the receiver's clock/);
  });

  it("reports the type of a wrong payload or header", () => {
    const instead = (options: object) => {
      const all = { payload: PAYLOAD, header: headerOf(PAYLOAD), secrets: SECRET, now: NOW, ...options };
      return rejection(() => verify(all)).message;
    };
    expect(instead({ payload: EVENT })).toMatch(/^the payload is an object, perhaps a parsed body: pass the raw/);
    expect(instead({ payload: 5 })).toMatch(/^the payload is a number: pass the raw/);
    expect(instead({ header: new Headers() })).toMatch(/ header is an object: pass its single value/);
  });

  it("points to whitespace around a secret, and where it is", () => {
    const mismatch = (secrets: string | string[]) =>
      rejection(() => verify({ payload: PAYLOAD, header: headerOf(PAYLOAD), secrets, now: NOW })).message;
    expect(mismatch(`${SECRET}\n`)).toMatch(/secret 1 of 1 starts or ends with whitespace: trim it/);
    expect(mismatch(["whsec_other", ` ${SECRET}`])).toMatch(/secret 2 of 2 starts or ends with whitespace/);
    expect(mismatch(["whsec_other", "whsec_third"])).not.toMatch(/whitespace/);
  });

  it("points to an empty payload, whether or not it is signed", () => {
    const message = (header: string) =>
      rejection(() => verify({ payload: "", header, secrets: SECRET, now: NOW })).message;
    expect(message(headerOf(PAYLOAD))).toMatch(/the payload is empty.*pass the raw request body/);
    expect(message(headerOf(""))).toMatch(/the payload is empty: pass the raw request body/);
  });

  it("never repeats a secret or a MAC in a message", () => {
    for (const vector of REJECTED) {
      const { message } = rejection(() => verify(optionsOf(vector)));
      expect(message).not.toMatch(/whsec_\w|[0-9a-f]{32}/);
      expect(message.length).toBeLessThan(300);
    }
  });

  it("has the parser's error as its cause only", () => {
    const error = rejection(() =>
      verify({ payload: "pin=1234", header: headerOf("pin=1234"), secrets: SECRET, now: NOW }),
    );
    expect(error.cause).toBeInstanceOf(SyntaxError);
    expect(error.message).not.toContain("1234");
  });

  it("is an Error with a name and a code", () => {
    const error = new SignatureError("header_missing", "gone");
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe("SignatureError: gone");
  });

  it("matches the exported constants", () => {
    expect(TOLERANCE_SECONDS).toBe(300);
    expect(SIGNATURE_HEADER_DISPLAY).toBe("Service-Signature");
    expect(SIGNATURE_HEADER).toBe(SIGNATURE_HEADER_DISPLAY.toLowerCase());
  });
});
