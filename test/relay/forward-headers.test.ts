import { describe, expect, it } from "vitest";
import { ForwardHeaderError, parseForwardHeaders } from "../../src/relay/forward-headers.ts";

const PROTECTED = [
  "Service-Signature",
  "service-event-id",
  "Service-Delivery-Attempt",
  "Service-Relay",
  "Content-Type",
  "User-Agent",
  "Content-Length",
  "Transfer-Encoding",
  "Connection",
  "Keep-Alive",
  "Upgrade",
  "Expect",
  "TE",
];

describe("parseForwardHeaders", () => {
  it("parses names and values, with colons in values and repeated headers", () => {
    const lines = [
      "Authorization: Basic YTpi",
      "X-Url:http://a:1/b",
      "Cookie: a=1",
      "Cookie: b=2",
      "X-Empty:",
      "Host: app.test",
    ];
    expect(parseForwardHeaders(lines)).toEqual([
      "Authorization",
      "Basic YTpi",
      "X-Url",
      "http://a:1/b",
      "Cookie",
      "a=1",
      "Cookie",
      "b=2",
      "X-Empty",
      "",
      "Host",
      "app.test",
    ]);
  });

  it.each([
    [["NoColon"], "no_colon"],
    [[": value"], "invalid_name"],
    [["Bad Name: value"], "invalid_name"],
    [["Näme: value"], "invalid_name"],
    [["X-Line: a\nb"], "invalid_value"],
    [["X-Wide: €"], "invalid_value"],
    [["Host: a", "host: b"], "duplicate"],
    ...PROTECTED.map((name): [string[], string] => [[`${name}: x`], "protected"]),
  ])("rejects %j as %s", (lines, code) => {
    expect(() => parseForwardHeaders(lines)).toThrow(ForwardHeaderError);
    expect(() => parseForwardHeaders(lines)).toThrow(expect.objectContaining({ code }));
  });
});
