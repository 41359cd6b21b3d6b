import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { SELF_SIGNED } from "./self-signed.ts";

/** A real proxy that tunnels every CONNECT to one port of this machine. */
export interface ConnectProxy {
  url: string;
  /** The requested targets. */
  targets: string[];
  /** The Proxy-Authorization header of each request. */
  signIns: (string | undefined)[];
}

/** Starts it until the test ends. With `tls` it uses TLS itself, with the test certificate. */
export async function startConnectProxy(
  targetPort: number,
  { tls = false, host = "127.0.0.1" }: { tls?: boolean; host?: string } = {},
): Promise<ConnectProxy> {
  const targets: string[] = [];
  const signIns: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server: Server = tls ? createTlsServer(SELF_SIGNED) : createServer();
  server.on("connect", (request, socket: Socket) => {
    targets.push(request.url!);
    signIns.push(request.headers["proxy-authorization"]);
    const upstream = connect(targetPort, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const name = tls ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return { url: `http${tls ? "s" : ""}://${name}:${port}`, targets, signIns };
}
