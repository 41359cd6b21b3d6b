import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What stands before several nodes: asks each whether it is ready, and sends requests to those that are, in turn. */
export async function startBalancer(targets: () => readonly string[]) {
  const agent = new Agent({ keepAlive: true });
  let ready: readonly string[] = [];
  let turn = 0;
  const look = async () => {
    const asked = await Promise.all(
      targets().map(async (target) => {
        const reply = await fetch(`${target}/readyz`).catch(() => undefined);
        return reply?.status === 200 ? [target] : [];
      }),
    );
    ready = asked.flat();
  };
  const looking = setInterval(() => void look(), 50);
  await look();
  const forward = (from: IncomingMessage, to: ServerResponse) => {
    const target = ready[(turn += 1) % Math.max(1, ready.length)];
    if (target === undefined) return void to.writeHead(502).end("no node is ready");
    const { method, url, headers } = from;
    const onward = request(target + url, { method, headers, agent }, (reply) => {
      to.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(to);
    });
    onward.once("error", (error) => to.writeHead(502).end(String(error)));
    from.pipe(onward);
  };
  const server = createServer(forward);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      clearInterval(looking);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
