import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Starts a proxy to the platform whose connections can be cut. It stops when the test finishes. */
export async function startLine(baseUrl: string): Promise<{ url: string; cut(): void }> {
  const { hostname, port } = new URL(baseUrl);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const platform = connect(Number(port), hostname);
    for (const socket of [client, platform]) socket.on("error", () => socket.destroy());
    client.pipe(platform).pipe(client);
    open.add(client);
    client.once("close", () => {
      open.delete(client);
      platform.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const client of open) client.resetAndDestroy();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}
