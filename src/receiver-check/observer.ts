import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord, parseJson } from "../contract/json.ts";
import { type Clock, exchange, formatResponse, isAccepted } from "./exchange.ts";

/** Observes a receiver's effects, which its responses do not reveal. */
export interface Observer {
  /** The name to show: `the probe at http://…`. */
  name: string;
  /** How to make effects visible, as the end of a sentence. */
  advice: string;
  /**
   * Returns how often the receiver has acted: on these events if the observer can distinguish events, else on any.
   * Rejects with ObserverError.
   */
  count(eventIds: readonly string[]): Promise<number>;
}

/** The observer itself does not work, so effects cannot be counted. */
export class ObserverError extends Error {
  override name = "ObserverError";
  /** False without a response. */
  readonly isReached: boolean;

  constructor(message: string, isReached: boolean) {
    super(message);
    this.isReached = isReached;
  }
}

const LIMIT_MILLISECONDS = 5000;

/** Requests the number of effects from a URL, which returns a number, or a JSON object with a `count`. */
export function probeAt(url: URL, { clock, signal }: { clock: Clock; signal: AbortSignal }): Observer {
  const name = `the probe at ${url.href}`;
  return {
    name,
    advice: "the probe must count each processed event",
    async count() {
      const response = await exchange({
        url,
        method: "GET",
        headers: { Accept: "application/json, text/plain" },
        body: new Uint8Array(),
        limitMilliseconds: LIMIT_MILLISECONDS,
        skipVerify: false,
        signal,
        clock,
      });
      const count = isAccepted(response) ? countIn(response.excerpt) : undefined;
      if (count !== undefined) return count;
      throw new ObserverError(
        `${name} gave no count (${formatResponse(response)}): it must respond to a GET with a whole number or {"count": number}`,
        response.status !== undefined,
      );
    },
  };
}

function countIn(text: string): number | undefined {
  const value = parseJson(text);
  const count = isRecord(value) ? value["count"] : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** An address that the receiver calls each time it acts. Close it, or the process stays alive. */
export interface Sink extends Observer {
  url: string;
  close(): void;
}

const READ_BYTES = 65_536;
/** The forms of IDs of deliveries. */
const EVENT_ID = /(?:evt_|msg_|Ev)[0-9A-Za-z]{22}/;
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i;

/**
 * Opens a sink. A call with an event ID, in its path or its body, counts for that event; a call without an ID, for all.
 * Rejects if it cannot listen on the address.
 */
export async function openSink({ host, port }: { host: string; port: number }): Promise<Sink> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    textOf(request).then(
      (text) => {
        calls.push(text);
        response.writeHead(204).end();
      },
      () => response.destroy(),
    );
  });
  server.listen(port, host);
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  return {
    url,
    name: `the sink at ${url}`,
    advice: "the receiver must call the sink once for each processed event",
    async count(ids) {
      // Other UUIDs mean nothing to a provider whose IDs have another form.
      const form = ids.some((id) => UUID.test(id)) ? UUID : EVENT_ID;
      return calls.filter((text) => ids.some((id) => text.includes(id)) || !form.test(text)).length;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the path and the body, which may contain an event ID. */
async function textOf(request: IncomingMessage): Promise<string> {
  let text = request.url ?? "";
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (text.length < READ_BYTES) text += chunk.toString("latin1");
  }
  return text;
}
