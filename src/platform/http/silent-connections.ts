import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { LIMITS } from "../../contract/limits.ts";
import { addressName } from "../../network/addresses.ts";
import type { With } from "../tools.ts";

/** Many connections may be accepted at once, before the first request of any is read. */
const GRACE_MILLISECONDS = 1000;
const WARN_AGAIN_MILLISECONDS = 3_600_000;

/**
 * Closes connections without a request if their address has more of them than `LIMITS.silentConnections`. Exempts
 * trusted proxies. Call it once the server has all its listeners.
 */
export function limitSilentConnections(
  server: Server,
  { clock, log }: With<"clock" | "log">,
  isTrustedProxy: (address: string | undefined) => boolean,
): void {
  const silent = new Map<string, Set<Duplex>>();
  const names = new WeakMap<Duplex, string>();
  let warnedAt = -Infinity;
  const forget = (socket: Duplex) => {
    const name = names.get(socket);
    if (name === undefined) return;
    names.delete(socket);
    const sockets = silent.get(name)!;
    sockets.delete(socket);
    if (sockets.size === 0) silent.delete(name);
  };
  server.on("connection", (socket) => {
    if (isTrustedProxy(socket.remoteAddress)) return;
    const name = addressName(socket.remoteAddress);
    const sockets = silent.get(name) ?? new Set();
    silent.set(name, sockets.add(socket));
    names.set(socket, name);
    socket.once("close", () => forget(socket));
    if (sockets.size <= LIMITS.silentConnections) return;
    const closeIfSilent = () => {
      const max = LIMITS.silentConnections;
      if (!sockets.has(socket) || sockets.size <= max) return;
      const address = socket.remoteAddress;
      socket.destroy();
      if (clock.elapsed() - warnedAt < WARN_AGAIN_MILLISECONDS) return;
      warnedAt = clock.elapsed();
      log.warn(
        { address },
        `connections are closed: an address has more than ${max} connections that have sent no request`,
      );
    };
    // After a pause of the process, what has arrived meanwhile is read first.
    clock.after(GRACE_MILLISECONDS, () => setImmediate(closeIfSilent));
  });
  const onRequest = ({ socket }: IncomingMessage) => forget(socket);
  server.prependListener("request", onRequest);
  // Without any listener for it, Node treats an upgrade as a request.
  if (server.listenerCount("upgrade") > 0) server.prependListener("upgrade", onRequest);
}
