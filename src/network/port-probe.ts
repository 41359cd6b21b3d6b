import { connect } from "node:net";
import { type Clock, systemClock } from "./clock.ts";
import { addressOf, isLoopback } from "./connect-options.ts";
import { isOutOfDescriptors } from "./failures.ts";

/**
 * Returns whether anything listens on a port. Resolves with undefined if that is unknown: within the time limit there
 * was neither a connection nor an error, as on a busy machine, or this process has no file descriptor for the socket.
 */
export function acceptsConnections(
  { host, port }: { host: string; port: number },
  timeoutMs: number,
  clock: Pick<Clock, "after"> = systemClock,
): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (isOpen: boolean | undefined) => {
      cancel();
      socket.destroy();
      resolve(isOpen);
    };
    const cancel = clock.after(timeoutMs, () => end(undefined));
    socket.once("connect", () => end(true));
    socket.once("error", (error) => end(isOutOfDescriptors(error) ? undefined : false));
  });
}

const PROBE_MS = 500;

/** Returns true if no program listens at a URL, which is known of this machine only. */
export async function isDown(url: URL): Promise<boolean> {
  return isLoopback(url.hostname) && (await acceptsConnections(addressOf(url), PROBE_MS)) === false;
}
