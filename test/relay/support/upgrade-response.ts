import type { Duplex } from "node:stream";

/** The problem details of a platform that rejects the upgrade. */
export const PROBLEM = {
  type: "about:blank",
  title: "No",
  status: 0,
  detail: "The key was revoked.",
  code: "x",
  request_id: "req_1",
};

/** Responds to an upgrade with plain HTTP. Returns true, because that handles it. */
export function respond(stream: Duplex, status: number, type: string, body: string, headers = ""): true {
  const length = Buffer.byteLength(body);
  stream.end(
    `HTTP/1.1 ${status} Status\r\nContent-Type: ${type}\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`,
  );
  return true;
}
