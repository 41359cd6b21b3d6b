import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { READY } from "../relay/support/frames.ts";
import { FrameError, parseClientFrame, parsePlatformFrame } from "../../src/contract/listen.ts";

describe("listen frames", () => {
  it("are parsed as they were written", () => {
    const event = { seq: 1, id: "evt_1", type: "order.completed", body: '{"a": 1}' };
    const events = { frame: "events", events: [event, { ...event, seq: 2, cursor: "evt_2" }] };
    expect(parsePlatformFrame(JSON.stringify(events))).toEqual(events);
    const attempts = [{ error: "connection refused", duration_ms: 1, ago_ms: 1000.5 }];
    const acks = { frame: "acks", acks: [{ seq: 1, status_code: 204, duration_ms: 1.5, attempts }] };
    expect(parseClientFrame(JSON.stringify(acks))).toEqual(acks);
    expect(parseClientFrame(JSON.stringify({ ...acks, later: "member" }))).toMatchObject(acks);
  });

  it.each([
    "",
    "null",
    "[]",
    '"acks"',
    "{}",
    '{"frame":"nothing"}',
    '{"frame":"toString"}',
    '{"frame":["acks"]}',
    `{"frame":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
    `{"frame":"${"x".repeat(50_000)}"}`,
    '{"frame":"acks","acks":[{"seq":"1","duration_ms":1}]}',
    '{"frame":"acks","acks":[{"seq":1}]}',
    '{"frame":"acks","acks":[{"seq":1,"duration_ms":-0.5}]}',
    '{"frame":"acks","acks":[{"seq":1,"duration_ms":-5}]}',
    '{"frame":"acks","acks":[{"seq":1,"duration_ms":1e300}]}',
    '{"frame":"acks","acks":[{"seq":-1,"duration_ms":1}]}',
    '{"frame":"acks","acks":[{"seq":1.5,"duration_ms":1}]}',
    '{"frame":"acks","acks":[{"seq":1,"status_code":-200,"duration_ms":1}]}',
    '{"frame":"acks","acks":[{"seq":1,"status_code":200.5,"duration_ms":1}]}',
    '{"frame":"acks","acks":[{"seq":1,"status_code":2147483648,"duration_ms":1}]}',
    '{"frame":"acks","acks":[{"seq":1,"duration_ms":1,"error":5}]}',
    '{"frame":"acks"}',
    '{"frame":"acks","acks":{}}',
    '{"frame":"acks","acks":[null]}',
    '{"frame":"acks","acks":[{"seq":1,"duration_ms":1,"attempts":1}]}',
    '{"frame":"acks","acks":[{"seq":1,"duration_ms":1,"attempts":[{"duration_ms":1}]}]}',
    `{"frame":"acks","acks":[${Array(65).fill('{"seq":1,"duration_ms":1}').join()}]}`,
    `{"frame":"acks","acks":[{"seq":1,"duration_ms":1,"attempts":[${Array(21).fill('{"duration_ms":1,"ago_ms":1}').join()}]}]}`,
  ])("reject %j", (text) => {
    expect(() => parseClientFrame(text)).toThrow(FrameError);
  });

  it.each([
    ["events", { id: "evt_1\u001b[2J" }, "id is not a valid event ID"],
    ["events", { id: "ord_1" }, "id is not a valid event ID"],
    ["events", { cursor: "" }, "cursor is not a valid event ID"],
    ["events", { type: 'a","b":"' }, "type is not a valid name"],
    ["events", { type: "x".repeat(101) }, "type is not a valid name"],
    ["ready", { secret: "whsec_a\nLD_PRELOAD=evil.so" }, "secret is not a valid signing secret"],
    ["ready", { secret: "" }, "secret is not a valid signing secret"],
    ["ready", { account: "\u009b2J" }, "account is not a valid name"],
    ["ready", { session: "a\nb" }, "session is not a valid name"],
    ["ready", { environment: "other" }, "environment is not a valid environment"],
    ["ready", { subscriptions: ["order.*", "\u0007"] }, "subscriptions is not a valid list of subscriptions"],
    ["gap", { from: "\u001b" }, "from is not a valid event ID"],
    ["bye", { code: "a b" }, "code is not a valid name"],
  ])("from the platform are rejected as %s with %j", (name, wrong, message) => {
    const event = { seq: 1, id: "evt_1", type: "order.completed", body: "{}", ...wrong };
    const frames: Record<string, object> = {
      events: { events: [event] },
      ready: { ...READY, ...wrong },
      gap: { from: "evt_1", to: "evt_2", ...wrong },
      bye: { code: "draining", message: "later", ...wrong },
    };
    const parse = (frame: object | undefined) => parsePlatformFrame(JSON.stringify({ frame: name, ...frame }));
    expect(() => parse(frames[name])).toThrow(FrameError);
    expect(() => parse(frames[name])).toThrow(message);
  });

  it("throw only FrameError for any input", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((object) => JSON.stringify({ frame: "events", events: [object], ...object })),
        ),
        (text) => {
          for (const parse of [parseClientFrame, parsePlatformFrame]) {
            try {
              parse(text);
            } catch (error) {
              expect(error).toBeInstanceOf(FrameError);
            }
          }
        },
      ),
    );
  });
});
