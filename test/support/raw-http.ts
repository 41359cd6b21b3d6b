import { connect } from "node:net";

/** A raw response, not parsed by any client library. */
export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Sends bytes as they are and reads one complete response, for requests that no client would send. */
export function sendRaw(baseUrl: string, bytes: string | Buffer): Promise<RawResponse> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let received = Buffer.alloc(0);
    const settle = () => {
      const response = readResponse(received);
      if (response === undefined) return false;
      socket.destroy();
      resolve(response);
      return true;
    };
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      settle();
    });
    socket.on("end", () => {
      if (!settle()) reject(new Error(`no complete reply: ${JSON.stringify(received.toString())}`));
    });
    socket.on("error", (error) => {
      if (!settle()) reject(error);
    });
  });
}

/** Returns the first response in the received bytes, or undefined while it is incomplete. */
export function readResponse(bytes: Buffer): RawResponse | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) headers[line.slice(0, line.indexOf(":")).toLowerCase()] = line.slice(line.indexOf(":") + 2);
  const body = bytes.subarray(end + 4);
  if (body.length < Number(headers["content-length"] ?? 0)) return undefined;
  return { status: Number(statusLine.split(" ")[1]), headers, body: body.toString("utf8") };
}
