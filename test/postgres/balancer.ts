import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";

/** A load balancer for several nodes: checks their readiness, and sends requests to ready nodes in turn. */
export async function startBalancer(targets: () => readonly string[]) {
  const agent = new Agent({ keepAlive: true });
  const served = new Map<string, number>();
  let ready: readonly string[] = [];
  const turns = { requests: 0, tunnels: 0 };
  const look = async () => {
    const requested = await Promise.all(
      targets().map(async (target) => {
        const response = await fetch(`${target}/readyz`).catch(() => undefined);
        return response?.status === 200 ? [target] : [];
      }),
    );
    ready = requested.flat();
  };
  let isClosed = false;
  const keepLooking = async () => {
    while (!isClosed) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await look();
  void keepLooking();
  const next = (kind: keyof typeof turns) => {
    const target = ready[(turns[kind] += 1) % Math.max(1, ready.length)];
    if (target !== undefined) served.set(target, (served.get(target) ?? 0) + 1);
    return target;
  };
  const forward = (from: IncomingMessage, to: ServerResponse) => {
    const target = next("requests");
    if (target === undefined) return void to.writeHead(502).end("no node is ready");
    const { method, url, headers } = from;
    const onward = request(target + url, { method, headers, agent }, (response) => {
      to.writeHead(response.statusCode!, response.headers);
      response.once("error", () => to.destroy());
      response.pipe(to);
    });
    onward.once("error", (error) => (to.headersSent ? to.destroy() : to.writeHead(502).end(String(error))));
    to.once("close", () => onward.destroy());
    from.pipe(onward);
  };
  const tunnels = new Set<Duplex>();
  const tunnel = (from: IncomingMessage, near: Duplex, head: Buffer) => {
    near.on("error", () => near.destroy());
    const target = next("tunnels");
    if (target === undefined) return void near.end("HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n");
    const { hostname, port } = new URL(target);
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      tunnels.add(one);
      one.on("error", () => one.destroy());
      one.once("close", () => {
        tunnels.delete(one);
        other.destroy();
      });
    }
    const lines = [`GET ${from.url} HTTP/1.1`];
    for (let i = 0; i < from.rawHeaders.length; i += 2) lines.push(`${from.rawHeaders[i]}: ${from.rawHeaders[i + 1]}`);
    far.write(`${lines.join("\r\n")}\r\n\r\n`);
    far.write(head);
    near.pipe(far).pipe(near);
  };
  const server = createServer(forward).on("upgrade", tunnel);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The number of requests to each node. */
    served: served as ReadonlyMap<string, number>,
    /** The number of ready nodes at the last check. */
    ready: () => ready.length,
    async close() {
      isClosed = true;
      agent.destroy();
      for (const stream of tunnels) stream.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
