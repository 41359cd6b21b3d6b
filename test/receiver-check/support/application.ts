import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** What an application does about events. */
export interface Work {
  /** Acts on an event that was not seen before: the id is stored first, and storing it twice is not possible. */
  once(id: string): void;
  /** Acts, whatever happened before. */
  act(id: string): void;
  /** The ids that it acted on, in order. */
  acted: string[];
}

/** An application with a webhook route and a count of what it did, on a real socket. */
export interface Application {
  webhooks: string;
  count: string;
  work: Work;
  close(): void;
}

/** `onAct` is told of each action, as a receiver would call another service. */
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
