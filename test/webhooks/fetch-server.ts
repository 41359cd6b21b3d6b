import { type FetchHandler, listenerOf } from "./fetch-listener.ts";
import { listen, type Receiver } from "./receiver-server.ts";

/** Serves a Fetch handler on a real socket. */
export async function listenFetch(handle: FetchHandler): Promise<Receiver> {
  return listen(listenerOf(handle));
}
