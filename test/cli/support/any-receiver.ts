import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../../client/support/scripted-server.ts";

/** A request as it arrived. */
export interface ArrivedRequest {
  headers: IncomingMessage["headers"];
  rawHeaders: string[];
  body: Buffer;
}

/** A receiver that accepts every delivery, and keeps it. */
export interface AnyReceiver {
  url: string;
  requests: ArrivedRequest[];
}

/** `answer` writes the responses (default: 200 without a body). */
export async function startAnyReceiver(
  answer: (response: ServerResponse) => void = (response) => response.end(),
): Promise<AnyReceiver> {
  const requests: ArrivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { headers, rawHeaders } = request;
      requests.push({ headers, rawHeaders, body: Buffer.concat(chunks) });
      answer(response);
    });
  });
  return { url: await listen(server), requests };
}
