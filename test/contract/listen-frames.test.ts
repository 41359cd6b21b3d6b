import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameError, parseClientFrame, parsePlatformFrame } from "../../src/contract/listen.ts";

describe("listen frames", () => {
  it("are read as they were written", () => {
    const event = { frame: "event", seq: 1, id: "evt_1", type: "order.completed", body: '{"a": 1}' };
    expect(parsePlatformFrame(JSON.stringify(event))).toEqual(event);
    const ack = { frame: "ack", seq: 1, status_code: 204, duration_ms: 1.5 };
    expect(parseClientFrame(JSON.stringify(ack))).toEqual(ack);
    expect(parseClientFrame(JSON.stringify({ ...ack, later: "member" }))).toMatchObject(ack);
  });

  it.each([
    "",
    "null",
    "[]",
    '"ack"',
    "{}",
    '{"frame":"nothing"}',
    '{"frame":"toString"}',
    '{"frame":["ack"]}',
    `{"frame":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
    `{"frame":"${"x".repeat(50_000)}"}`,
    '{"frame":"ack","seq":"1","duration_ms":1}',
    '{"frame":"ack","seq":1}',
    '{"frame":"ack","seq":1,"duration_ms":-0.5}',
    '{"frame":"ack","seq":1,"duration_ms":-5}',
    '{"frame":"ack","seq":1,"duration_ms":1e300}',
    '{"frame":"ack","seq":-1,"duration_ms":1}',
    '{"frame":"ack","seq":1.5,"duration_ms":1}',
    '{"frame":"ack","seq":1,"status_code":-200,"duration_ms":1}',
    '{"frame":"ack","seq":1,"status_code":200.5,"duration_ms":1}',
    '{"frame":"ack","seq":1,"status_code":2147483648,"duration_ms":1}',
    '{"frame":"ack","seq":1,"duration_ms":1,"error":5}',
  ])("refuse %j", (text) => {
    expect(() => parseClientFrame(text)).toThrow(FrameError);
  });

  it("throw nothing but FrameError, whatever comes", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((object) => JSON.stringify({ frame: "event", ...object })),
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
