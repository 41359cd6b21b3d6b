import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type SignatureError, verify, type WebhookEvent } from "../../src/webhooks/index.ts";

/** An application that verifies and records deliveries. */
export interface Receiver {
  url: string;
  /** Every verified delivery in order of arrival, duplicates included. */
  events: WebhookEvent[];
  /** The errors of rejected deliveries. */
  rejections: SignatureError[];
  /** The distinct IDs of verified events. */
  ids(): Set<string>;
  /** Resolves once the condition holds. Checks it after each delivery. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/**
 * Calls `secret` for every delivery, because a listener reports it after the receiver has started. Port 0 selects a
 * free one.
 */
export async function startReceiver(secret: () => string, port = 0): Promise<Receiver> {
  const events: WebhookEvent[] = [];
  const rejections: SignatureError[] = [];
  const waiting: { condition: () => boolean; resolve: () => void }[] = [];
  const check = () => {
    for (const waiter of waiting.splice(0)) {
      if (waiter.condition()) waiter.resolve();
      else waiting.push(waiter);
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      try {
        const header = request.headers["service-signature"];
        events.push(verify({ payload: Buffer.concat(chunks), header, secrets: secret() }));
        response.writeHead(204).end();
      } catch (error) {
        rejections.push(error as SignatureError);
        response.writeHead(400).end((error as Error).message);
      }
      check();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    events,
    rejections,
    ids: () => new Set(events.map(({ id }) => id)),
    until: (condition) =>
      new Promise((resolve) => {
        waiting.push({ condition, resolve });
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
