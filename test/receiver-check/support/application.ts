import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** The ways an application processes events. */
export interface Work {
  /** Stores the ID of an event first, which succeeds only once, and then processes it. */
  once(id: string): void;
  /** Processes an event unconditionally. */
  act(id: string): void;
  /** The IDs of processed events, in order. */
  acted: string[];
}

/** An application with a webhook route and a counter of processed events, on a real socket. */
export interface Application {
  webhooks: string;
  count: string;
  work: Work;
  close(): void;
}

/** `onAct` is called for each processed event, like a call to another service. */
export async function startApplication(
  receiver: (work: Work) => RequestListener | Promise<RequestListener>,
  onAct: (id: string) => void = () => {},
): Promise<Application> {
  const stored = new Set<string>();
  const work: Work = {
    acted: [],
    act(id) {
      work.acted.push(id);
      onAct(id);
    },
    once(id) {
      if (stored.has(id)) return;
      stored.add(id);
      work.act(id);
    },
  };
  const listener = await receiver(work);
  const server = createServer((request, response) => {
    if (request.url === "/count") response.end(JSON.stringify({ count: work.acted.length }));
    else listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    webhooks: `http://127.0.0.1:${port}/webhooks`,
    count: `http://127.0.0.1:${port}/count`,
    work,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
