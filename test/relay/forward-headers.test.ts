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
    [["NoColon"], "has no colon"],
    [[": value"], "not a valid header name"],
    [["Bad Name: value"], "not a valid header name"],
    [["Näme: value"], "not a valid header name"],
    [["X-Line: a\nb"], "characters that are not allowed"],
    [["X-Wide: €"], "characters that are not allowed"],
    [["Host: a", "host: b"], "more than once"],
    ...PROTECTED.map((name): [string[], string] => [[`${name}: x`], "remove it"]),
  ])("rejects %j: %s", (lines, problem) => {
    expect(() => parseForwardHeaders(lines)).toThrow(ForwardHeaderError);
    expect(() => parseForwardHeaders(lines)).toThrow(problem);
  });
});
