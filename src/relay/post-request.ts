/** The bytes of a POST (RFC 9112). `headers` is a flat list of names and values that were checked before. */
export function postRequest(url: URL, headers: readonly string[], body: Uint8Array): Buffer {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\n`;
  let hasHost = false;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!;
    hasHost ||= name.length === 4 && name.toLowerCase() === "host";
    head += `${name}: ${headers[i + 1]!}\r\n`;
  }
  if (!hasHost) head += `Host: ${url.host}\r\n`;
  head += `Connection: keep-alive\r\nContent-Length: ${body.length}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, "latin1");
  bytes.set(body, head.length);
  return bytes;
}
