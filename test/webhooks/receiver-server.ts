import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { onTestFinished } from "vitest";

/** A receiver on a real socket, closed when the test ends. */
export interface Receiver {
  url: string;
  port: number;
}

export async function listen(listener: (...args: Parameters<http.RequestListener>) => unknown): Promise<Receiver> {
  return serve(http.createServer((request, response) => void listener(request, response)));
}

export async function serve(server: http.Server): Promise<Receiver> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return receiverAt((server.address() as net.AddressInfo).port);
}

export function receiverAt(port: number): Receiver {
  return { url: `http://127.0.0.1:${port}/webhooks`, port };
}

/** Opens a connection and sends the head of a delivery that `fetch` cannot send. */
export async function openDelivery({ port }: Receiver, head: string[]): Promise<net.Socket> {
  const socket = net.connect(port, "127.0.0.1");
  // Tests cut connections on purpose, and check the received bytes.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(["POST /webhooks HTTP/1.1", "Host: receiver", ...head, "", ""].join("\r\n"));
  return socket;
}

/** Returns everything that the server sends until it closes the connection. */
export async function readToEnd(socket: net.Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  // Not events.once: a reset connection is closed too.
  if (!socket.closed) await new Promise((resolve) => socket.on("close", resolve));
  return Buffer.concat(chunks).toString("utf8");
}
