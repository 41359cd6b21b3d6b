/** How a response is read: its status and body, that it is not HTTP, or that it was cut off. */
export type Verdict = { status: number; body: string } | "invalid" | "cut";

export interface ResponseCase {
  what: string;
  bytes: string;
  verdict: Verdict;
  /** The receiver closes the connection after the response. */
  closes?: boolean;
  /** The connection must not be used for another request. */
  isLast?: boolean;
  /** The reason for the verdict. */
  because?: string;
}

type Row = [what: string, bytes: string, verdict: Verdict, rest?: Partial<ResponseCase>];

const OK = "HTTP/1.1 200 OK\r\n";
const SMUGGLED = "HTTP/1.1 500 Smuggled\r\nContent-Length: 0\r\n\r\n";
const read = (body = "ok", status = 200): Verdict => ({ status, body });
const firstLine = (line: string) => `${line}\r\nContent-Length: 2\r\n\r\nok`;
const fields = (...lines: string[]) => `${OK}${lines.join("\r\n")}\r\nContent-Length: 2\r\n\r\nok`;
const length = (value: string) => `${OK}Content-Length:${value}\r\n\r\nok`;
const coding = (value: string) => `${OK}Transfer-Encoding:${value}\r\n\r\n2\r\nok\r\n0\r\n\r\n`;
const chunked = (body: string) => `${OK}Transfer-Encoding: chunked\r\n\r\n${body}`;
const sized = (line: string) => chunked(`${line}\r\nok\r\n0\r\n\r\n`);
const trailer = (line: string) => chunked(`2\r\nok\r\n0\r\n${line}\r\n\r\n`);

const STATUS_LINES: Row[] = [
  ["HTTP/1.1", firstLine("HTTP/1.1 200 OK"), read()],
  ["HTTP/1.0", firstLine("HTTP/1.0 200 OK"), read(), { isLast: true }],
  ["HTTP/1.2", firstLine("HTTP/1.2 200 OK"), "invalid", { because: "no such version will ever exist" }],
  ["HTTP/1.10", firstLine("HTTP/1.10 200 OK"), "invalid"],
  ["HTTP/0.9", firstLine("HTTP/0.9 200 OK"), "invalid"],
  ["HTTP/2.0", firstLine("HTTP/2.0 200 OK"), "invalid"],
  ["RTSP", firstLine("RTSP/1.0 200 OK"), "invalid"],
  ["no minor version", firstLine("HTTP/1 200 OK"), "invalid"],
  ["lower case", firstLine("http/1.1 200 OK"), "invalid"],
  ["Icecast's ICY", firstLine("ICY 200 OK"), "invalid"],
  ["an empty reason", firstLine("HTTP/1.1 200 "), read()],
  ["no reason, and no space", firstLine("HTTP/1.1 200"), read(), { because: "many servers leave out the space" }],
  ["a reason in UTF-8", firstLine("HTTP/1.1 200 d\xc3\xa9j\xc3\xa0"), read()],
  ["NUL in the reason", firstLine("HTTP/1.1 200 a\0b"), read(), { because: "clients ignore the reason (RFC 9112 4)" }],
  ["CR in the reason", firstLine("HTTP/1.1 200 a\rb"), "invalid"],
  ["two spaces before the status", firstLine("HTTP/1.1  200 OK"), "invalid"],
  ["tabs for spaces", firstLine("HTTP/1.1\t200\tOK"), "invalid"],
  ["a status of two digits", firstLine("HTTP/1.1 20 OK"), "invalid"],
  ["a status of four digits", firstLine("HTTP/1.1 2000 OK"), "invalid"],
  ["a reason at the status", firstLine("HTTP/1.1 200OK"), "invalid"],
  ["a negative status", firstLine("HTTP/1.1 -20 OK"), "invalid"],
  ["status 000", firstLine("HTTP/1.1 000 OK"), "invalid"],
  ["status 299", firstLine("HTTP/1.1 299 OK"), read("ok", 299)],
  ["status 999", firstLine("HTTP/1.1 999 OK"), read("ok", 999)],
  ["an empty line first", `\r\n${firstLine("HTTP/1.1 200 OK")}`, "invalid"],
  ["a space first", firstLine(" HTTP/1.1 200 OK"), "invalid"],
  ["a byte order mark first", firstLine("\xef\xbb\xbfHTTP/1.1 200 OK"), "invalid"],
];

const LINES: Row[] = [
  ["LF for CRLF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "invalid"],
  ["LF after the status line", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok", "invalid"],
  ["LF after a header", fields("A: b\nC: d"), "invalid"],
  ["LF for the last line of the head", `${OK}Content-Length: 2\r\n\nok`, "invalid"],
  ["CR after the status line", "HTTP/1.1 200 OK\rContent-Length: 2\r\n\r\nok", "invalid"],
  ["CR after a header", fields("A: b\rC: d"), "invalid"],
  ["CR twice", fields("A: b\r"), "invalid"],
  ["a folded header", fields("A: b", " c"), "invalid", { because: "obsolete; a length could hide in it" }],
  ["a header folded by a tab", fields("A: b", "\tc"), "invalid"],
  ["a folded length", length("\r\n 2"), "invalid"],
  ["a space before the first header", fields(" A: b"), "invalid"],
];

const HEADERS: Row[] = [
  ["without a colon", fields("A"), "invalid"],
  ["without a name", fields(": b"), "invalid"],
  ["a space before the colon", fields("A : b"), "invalid"],
  ["a tab before the colon", fields("A\t: b"), "invalid"],
  ["a space in the name", fields("A b: c"), "invalid"],
  ["a bracket in the name", fields("A(b): c"), "invalid"],
  ["a name in UTF-8", fields("\xc3\xa9: c"), "invalid"],
  ["NUL in the name", fields("A\0: c"), "invalid"],
  ["every character of a name", fields("!#$%&'*+-.^_`|~09azAZ: c"), read()],
  ["an empty value", fields("A:"), read()],
  ["a value in Latin-1", fields("A: \xe9\xff"), read()],
  ["a tab in the value", fields("A: b\tc"), read()],
  ["NUL in the value", fields("A: b\0c"), "invalid"],
  ["DEL in the value", fields("A: b\x7fc"), "invalid"],
  ["ESC in the value", fields("A: \x1b[31m"), "invalid"],
  ["15 KB", fields(`A: ${"b".repeat(15_000)}`), read()],
  ["20 KB", fields(`A: ${"b".repeat(20_000)}`), "invalid"],
  ["2000 of them", fields(...Array<string>(2000).fill("A: b")), read()],
  ["Content-Encoding, whose body stays encoded", fields("Content-Encoding: gzip"), read()],
  ["Keep-Alive beyond all numbers", fields(`Keep-Alive: timeout=${"9".repeat(30)}`), read()],
  [
    "Retry-After that is none",
    `HTTP/1.1 503 Busy\r\nRetry-After: soon\r\nContent-Length: 2\r\n\r\nok`,
    read("ok", 503),
  ],
  ["Connection: close", fields("Connection: close"), read(), { isLast: true }],
];

const LENGTHS: Row[] = [
  ["without a space before it", length("2"), read()],
  ["tabs around it", length("\t2\t"), read()],
  ["a space of Unicode after it", length(" 2\xa0"), "invalid"],
  ["leading zeros", length(` ${"0".repeat(20)}2`), read()],
  ["a sign", length(" +2"), "invalid"],
  ["a negative one", length(" -2"), "invalid"],
  ["a fraction", length(" 2.0"), "invalid"],
  ["hexadecimal", length(" 0x2"), "invalid"],
  ["two numbers", length(" 2 2"), "invalid"],
  ["a list of one and the same", length(" 2, 2"), "invalid", { because: "allowed, not required (RFC 9110 8.6)" }],
  ["a list of different ones", length(" 2, 3"), "invalid"],
  ["given twice, the same", fields("Content-Length: 2"), "invalid"],
  ["given twice, different", fields("Content-Length: 3"), "invalid"],
  ["none", length(""), "invalid"],
  ["2^64 and 2", length(" 18446744073709551618"), "invalid"],
  ["more than is sent", length(" 5"), "cut", { closes: true }],
  ["more than is sent, on a last connection", length(" 5\r\nConnection: close"), "cut", { closes: true }],
];

const CODINGS: Row[] = [
  ["chunked in any case", coding(" ChUnKeD"), read()],
  ["and a length", coding(" chunked\r\nContent-Length: 2"), "invalid"],
  ["after a length", `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, "invalid"],
  [
    "chunked in HTTP/1.0",
    `HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    read(),
    { closes: true, isLast: true },
  ],
  ["gzip, chunked", coding(" gzip, chunked"), "invalid"],
  ["chunked twice", coding(" chunked, chunked"), "invalid"],
  ["identity", `${OK}Transfer-Encoding: identity\r\n\r\nok`, "invalid", { closes: true }],
  ["none", `${OK}Transfer-Encoding:\r\n\r\nok`, "invalid", { closes: true }],
  ...["chunked, identity", "xchunked", '"chunked"', "chunked;q=1", "\xa0chunked"].map((name): Row => [
    `no known one: ${JSON.stringify(name)}`,
    coding(` ${name}`),
    "invalid",
    { closes: true },
  ]),
];

const CHUNKS: Row[] = [
  ["several", chunked("1\r\no\r\n1\r\nk\r\n0\r\n\r\n"), read()],
  ["leading zeros", chunked(`${"0".repeat(20)}2\r\nok\r\n000\r\n\r\n`), read()],
  [
    "hexadecimal in both cases",
    chunked("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"),
    read("01234567890123456789"),
  ],
  ["an extension", sized("2;a=b"), read()],
  ["an extension without a value", sized("2;a"), read()],
  ["a quoted extension", sized('2;a="b;c\\"d"'), read()],
  ["several extensions", chunked("2;a=b;c;d=e\r\nok\r\n0;f\r\n\r\n"), read()],
  ["an extension of 3 KB", sized(`2;a=${"b".repeat(3000)}`), read()],
  ["an extension of 20 KB", sized(`2;a=${"b".repeat(20_000)}`), "invalid"],
  ...["2 ;a=b", "2; a=b", "2;a = b", "2 ; a = b"].map((line): Row => [
    `spaces around the marks of an extension: ${line}`,
    sized(line),
    read(),
    { because: "they must be parsed (RFC 9112 7.1.1)" },
  ]),
  ...["2;=b", "2;a=", "2;;a"].map((line): Row => [`an extension that is none: ${line}`, sized(line), "invalid"]),
  ...["2;", '2;a="b', "2;a=\0", "2;a\nb", "2;a\rb", "2 ", "2\t", " 2", "0x2", "+2", "-2", "g", "", "2 2", "2,"].map(
    (line): Row => [`a size that is none: ${JSON.stringify(line)}`, sized(line), "invalid"],
  ),
  ["a space after the last size", chunked("2\r\nok\r\n0 \r\n\r\n"), "invalid"],
  ["a size of 2^64 and 2", sized("10000000000000002"), "invalid"],
  ["LF after a size", chunked("2\nok\r\n0\r\n\r\n"), "invalid"],
  ["LF after a chunk", chunked("2\r\nok\n0\r\n\r\n"), "invalid"],
  ["LF at the end", chunked("2\r\nok\r\n0\n\n"), "invalid"],
  ["a chunk longer than its size", chunked("2\r\nokk\r\n0\r\n\r\n"), "invalid"],
  ["a chunk shorter than its size", chunked("3\r\nok\r\n0\r\n\r\n"), "invalid"],
  ["no last chunk", chunked("2\r\nok\r\n"), "cut", { closes: true }],
  ["no last line", chunked("2\r\nok\r\n0\r\n"), "cut", { closes: true }],
];

const TRAILERS: Row[] = [
  ["two", trailer("A: b\r\nC: d"), read()],
  ["a coding, which is ignored", trailer("Transfer-Encoding: chunked"), read()],
  ["a length, which is ignored", trailer("Content-Length: 5"), read()],
  ["without a colon", trailer("A"), "invalid"],
  ["a space in the name", trailer("A b: c"), "invalid"],
  ["folded", trailer("A: b\r\n c"), "invalid"],
  ["NUL", trailer("A: \0"), "invalid"],
  ["LF after one", trailer("A: b\nC: d"), "invalid"],
  [
    "200 KB",
    trailer(
      Array<string>(2000)
        .fill(`A: ${"b".repeat(97)}`)
        .join("\r\n"),
    ),
    "invalid",
  ],
];

const INTERIM: Row[] = [
  ["100 first", `HTTP/1.1 100 Continue\r\n\r\n${fields("A: b")}`, read()],
  ["102 and 103 first", `HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n${fields("A: b")}`, read()],
  ["199 first", `HTTP/1.1 199 Odd\r\n\r\n${fields("A: b")}`, read()],
  ["100 with a length, which is ignored", `HTTP/1.1 100 C\r\nContent-Length: 2\r\n\r\n${fields("A: b")}`, read()],
  [
    "100 with a coding, which is ignored",
    `HTTP/1.1 100 C\r\nTransfer-Encoding: chunked\r\n\r\n${fields("A: b")}`,
    read(),
  ],
  ["100 and no more", "HTTP/1.1 100 Continue\r\n\r\n", "cut", { closes: true }],
  ["101", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "invalid"],
  ["101 without Upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "invalid"],
  ["200 that offers an upgrade", fields("Connection: upgrade", "Upgrade: h2c"), read()],
  ["426", "HTTP/1.1 426 No\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok", read("ok", 426)],
];

const ENDS: Row[] = [
  ["204", "HTTP/1.1 204 No Content\r\n\r\n", read("", 204)],
  ["204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n", read("", 204)],
  ["204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", read("", 204), { isLast: true }],
  [
    "204 with chunks",
    "HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    read("", 204),
    { isLast: true },
  ],
  ["205 with a body", "HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nok", read("ok", 205)],
  ["304", "HTTP/1.1 304 Not Modified\r\n\r\n", read("", 304)],
  ["304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n", read("", 304)],
  ["304 with a body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok", read("", 304), { isLast: true }],
  ["the end of the connection", `${OK}\r\nok`, read(), { closes: true }],
  ["the end of the connection in HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nok", read(), { closes: true }],
  ["the end of the connection, without a body", `${OK}\r\n`, read(""), { closes: true }],
  ["other data", `${fields("A: b")}more`, read(), { isLast: true }],
  ["an empty line", `${fields("A: b")}\r\n`, read(), { isLast: true }],
  ["another response", `${fields("A: b")}${SMUGGLED}`, read(), { isLast: true }],
  ["another response after chunks", `${sized("2")}${SMUGGLED}`, read(), { isLast: true }],
  ["nothing", "", "cut", { closes: true }],
  ["half of the status line", "HTTP/1.1 20", "cut", { closes: true }],
  ["half of the head", `${OK}Content-Le`, "cut", { closes: true }],
];

const OTHERS: Row[] = [
  ["a web page", "<html><body>502</body></html>\r\n\r\n", "invalid", { closes: true }],
  ["a request", "POST / HTTP/1.1\r\nHost: example.com\r\n\r\n", "invalid"],
  ["an alert of TLS", "\x15\x03\x01\x00\x02\x02\x46", "invalid", { closes: true }],
  ["SSH", "SSH-2.0-OpenSSH_9.6\r\n", "invalid"],
  ["settings of HTTP/2", "\0\0\0\x04\0\0\0\0\0", "invalid", { closes: true }],
];

const GROUPS = {
  "status line": STATUS_LINES,
  "ends of lines": LINES,
  header: HEADERS,
  "Content-Length": LENGTHS,
  "Transfer-Encoding": CODINGS,
  chunks: CHUNKS,
  trailers: TRAILERS,
  "interim responses and upgrades": INTERIM,
  "ended by": ENDS,
  "other protocols": OTHERS,
};

/** Responses to an HTTP/1.1 POST, and how they are read (RFC 9110, RFC 9112). */
export const RESPONSES: readonly ResponseCase[] = Object.entries(GROUPS).flatMap(([group, rows]) =>
  rows.map(([what, bytes, verdict, rest]) => ({ what: `${group}: ${what}`, bytes, verdict, ...rest })),
);
