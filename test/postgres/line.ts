import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

interface LineState {
  /** Cuts the connection instead of forwarding a packet with this text. */
  breaksAt: string | undefined;
  /** The same for packets of the database. A process sends a statement's text only before its first use. */
  breaksAtResponse: string | undefined;
  broken: number;
  /** Forwards a packet with the first text replaced by the second, which has the same length. */
  replaces: readonly [from: string, to: string] | undefined;
}

/** A proxy between a process and the database that can cut, change or silence the connection. */
export async function startLine(database: string) {
  const target = new URL(database);
  const state: LineState = { breaksAt: undefined, breaksAtResponse: undefined, broken: 0, replaces: undefined };
  const open = new Set<Socket>();
  const between = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    open.add(client);
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
    client.once("close", () => open.delete(client));
    const pass = (from: Socket, to: Socket) =>
      from.on("data", (data) => {
        const breaks = [state.breaksAt, from === server ? state.breaksAtResponse : undefined];
        if (!breaks.some((text) => text !== undefined && data.includes(text))) return void to.write(changed(data));
        state.broken += 1;
        end();
      });
    pass(client, server);
    pass(server, client);
  }).listen(0, "127.0.0.1");
  await once(between, "listening");
  const changed = (data: Buffer) => {
    if (state.replaces === undefined) return data;
    return Buffer.from(data.toString("latin1").replace(...state.replaces), "latin1");
  };
  const url = new URL(database);
  url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`;
  return {
    state,
    /** The URL of the database through this proxy. */
    url: url.href,
    /** Simulates a lost network: no data and no closed connection. */
    fallSilent() {
      between.close();
      for (const client of open) client.pause();
    },
    close() {
      between.close();
      for (const client of open) client.destroy();
    },
  };
}
