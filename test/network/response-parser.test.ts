import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidResponseError, ResponseParser } from "../../src/network/response-parser.ts";

/** Parses a response in pieces of any size. */
function read(chunks: readonly string[], isClosed = false) {
  const parsed = { status: 0, headers: {} as Record<string, string>, body: "", ends: 0 };
  const parser = new ResponseParser({
    head: (status, headers) => Object.assign(parsed, { status, headers: Object.fromEntries(headers) }),
    data: (chunk) => (parsed.body += chunk.toString("latin1")),
    end: () => (parsed.ends += 1),
  });
  for (const chunk of chunks) parser.push(Buffer.from(chunk, "latin1"));
  const completed = isClosed && parser.closed();
  return { ...parsed, reusable: parser.reusable, completed };
}

const OK = "HTTP/1.1 200 OK\r\n";

describe("an HTTP response", () => {
  it.each([
    ["a length", `${OK}Content-Length: 5\r\n\r\nhello`, "hello", true],
    ["no body", `${OK}Content-Length: 0\r\n\r\n`, "", true],
    ["no reason", "HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok", "ok", true],
    ["no content", "HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", "", true],
    [
      "chunks",
      `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`,
      "abc0123456789",
      true,
    ],
    ["chunks and trailers", `${OK}Transfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n`, "x", true],
    [
      "interim replies",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 102 P\r\n\r\n${OK}Content-Length: 1\r\n\r\nx`,
      "x",
      true,
    ],
    ["a wish to close", `${OK}Content-Length: 1\r\nConnection: Keep-Alive, Close\r\n\r\nx`, "x", false],
    ["an old version", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", false],
    ["an old version that stays", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", "x", true],
    ["more than was asked for", `${OK}Content-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n`, "x", false],
  ])("with %s is parsed the same in any chunks", (_what, text, body, reusable) => {
    const whole = read([text]);
    expect(whole).toMatchObject({ body, reusable, ends: 1 });
    const cuts = fc.uniqueArray(fc.nat(text.length), { maxLength: 6 });
    fc.assert(
      fc.property(cuts, (places) => {
        const edges = [0, ...places.toSorted((a, b) => a - b), text.length];
        const chunks = edges.slice(1).map((edge, i) => text.slice(edges[i], edge));
        // Unrequested data may arrive after the end of the response.
        const { status, headers, body: got, ends } = read(chunks);
        expect({ status, headers, body: got }).toEqual({ status: whole.status, headers: whole.headers, body });
        expect(ends).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: 50 },
    );
  });

  it("without a length continues until the connection ends", () => {
    expect(read([`${OK}\r\nab`, "cd"])).toMatchObject({ body: "abcd", ends: 0 });
    expect(read([`${OK}\r\nab`, "cd"], true)).toMatchObject({
      body: "abcd",
      ends: 1,
      completed: true,
      reusable: false,
    });
  });

  it.each([`${OK}Content-Length: 5\r\n\r\nab`, `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nab`, "HTTP/1.1 20", ""])(
    "is not complete when the connection ends in %j",
    (text) => {
      expect(read([text], true)).toMatchObject({ ends: 0, completed: false });
    },
  );

  it("has its headers in lowercase, with repeated ones joined", () => {
    const text = `${OK}Location: /a\r\nX-A: 1\r\nx-a:  2 \r\nContent-Length: 0\r\n\r\n`;
    expect(read([text]).headers).toEqual({ location: "/a", "x-a": "1, 2", "content-length": "0" });
  });
});

describe("the parser rejects", () => {
  it.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["another protocol, from its first byte", "\u0016\u0003"],
    ["HTTP/2", "HTTP/2 200\r\n\r\n"],
    ["no status", "HTTP/1.1 OK\r\n\r\n"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["101", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["a space in a header's name", `${OK}A b: 1\r\n\r\n`],
    ["a space before the colon", `${OK}Content-Length : 1\r\n\r\n`],
    ["a folded header", `${OK}A: 1\r\n 2\r\n\r\n`],
    ["a header without a colon", `${OK}A\r\n\r\n`],
    ["a control character", `${OK}A: \u0000\r\n\r\n`],
    ["a bare line feed", `${OK}A: 1\nB: 2\r\n\r\n`],
    ["lengths that differ", `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    ["a negative length", `${OK}Content-Length: -1\r\n\r\n`],
    ["a length and chunks", `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ["an unknown coding", `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ["a chunk without a size", `${OK}Transfer-Encoding: chunked\r\n\r\n\r\n`],
    ["a chunk with a sign", `${OK}Transfer-Encoding: chunked\r\n\r\n+1\r\nx`],
    ["a chunk that is too long", `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n`],
    ["a line of chunks that does not end", `${OK}Transfer-Encoding: chunked\r\n\r\n${"1".repeat(5_000)}`],
    ["a head that does not end", `${OK}${"A: x\r\n".repeat(20_000)}`],
  ])("%s", (_what, text) => {
    expect(() => read([text])).toThrow(InvalidResponseError);
    expect(() => read(text.split(""))).toThrow(InvalidResponseError);
  });
});
