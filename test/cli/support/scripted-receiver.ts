import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The response to one delivery: a status with a body, or a closed connection. */
export type Reaction = { status: number; body?: string } | "hang up";

/** Starts a receiver that sends the n-th response to the n-th delivery, and then repeats the last one. */
export interface ScriptedReceiver {
  url: string;
  /** The `Service-Event-Id` of each delivery. */
  seen: string[];
  react(...reactions: Reaction[]): void;
  close(): Promise<void>;
}

export async function startScriptedReceiver(...first: Reaction[]): Promise<ScriptedReceiver> {
  const seen: string[] = [];
  let script = first;
  const server: Server = createServer((request, response) => {
    request.resume().on("end", () => {
      seen.push(String(request.headers["service-event-id"]));
      const reaction = script.length > 1 ? script.shift()! : script[0]!;
      if (reaction === "hang up") response.destroy();
      else response.writeHead(reaction.status).end(reaction.body);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    seen,
    react: (...reactions) => {
      script = reactions;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
