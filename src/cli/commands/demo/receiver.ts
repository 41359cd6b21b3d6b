import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeWebhook, type WebhookEvent } from "../../../webhooks/index.ts";

/** What a user's application would be: an HTTP server that takes verified events only. */
export interface DemoReceiver {
  url: string;
  /** The first verified event of the type. */
  received(type: string): Promise<WebhookEvent>;
  /** Tells of every verified event from now on. */
  follow(tell: (event: WebhookEvent) => void): void;
  close(): Promise<void>;
}

/** `secret` may arrive later than the server starts: `listen` tells it. */
export async function startReceiver(secret: () => string): Promise<DemoReceiver> {
  const events: WebhookEvent[] = [];
  let onEvent = (_event?: WebhookEvent): void => {};
  const server: Server = createServer(
    nodeWebhook({ secrets: () => secret() }, (event, _request, response) => {
      events.push(event);
      onEvent(event);
      response.writeHead(204).end();
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    received: (type) =>
      new Promise((resolve) => {
        onEvent = () => {
          const event = events.find((candidate) => candidate.type === type);
          if (event !== undefined) resolve(event);
        };
        onEvent();
      }),
    follow(tell) {
      onEvent = (event) => event && tell(event);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
