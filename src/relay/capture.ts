import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Scheme, SCHEMES } from "../webhooks/schemes.ts";
import { Dispatcher, type ForwardingOptions } from "./dispatcher.ts";
import { endToEndHeaders } from "./forward-headers.ts";
import type { Outcome } from "./ledger.ts";
import type { RecordedEvent } from "./recording.ts";
import type { ReceivedReport, Report, Summary } from "./report.ts";

/** As large as those of GitHub, the largest of any provider. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** Maximum size of all bodies in memory: deliveries wait there for the receiver. */
const MAX_HELD_BYTES = 4 * MAX_BODY_BYTES;
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;

/** A delivery as it was received. */
export interface CapturedDelivery extends RecordedEvent {
  headers: readonly string[];
}

interface Pending extends CapturedDelivery {
  response: ServerResponse;
}

export interface CaptureOptions extends ForwardingOptions {
  port: number;
  /** The provider, if it is known. */
  scheme?: Scheme | undefined;
  now: () => number;
  verify?: (payload: Uint8Array, headers: readonly string[]) => ReceivedReport["verified"];
  /** Called for each delivery before it is answered. */
  received: (delivery: CapturedDelivery) => void;
  report: (report: Report) => void;
}

/** Receives deliveries on loopback, forwards them, and gives the sender the receiver's answer. */
export class Capture {
  readonly #options: CaptureOptions;
  readonly #server: Server;
  readonly #dispatcher: Dispatcher<Pending>;
  #heldBytes = 0;
  #received = 0;

  constructor(options: CaptureOptions) {
    this.#options = options;
    this.#dispatcher = new Dispatcher<Pending>(options, {
      signing: { headers: ({ headers }) => headers },
      settled: ({ response }, outcome) => answerWith(response, outcome),
      report: options.report,
    });
    const timeouts = { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS };
    this.#server = createServer({ ...timeouts, connectionsCheckingInterval: 1000 }, (request, response) =>
      this.#receive(request, response),
    );
  }

  /** Resolves with the port. Rejects if it cannot listen on it. */
  async start(): Promise<number> {
    this.#server.listen(this.#options.port, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  /** Closes all connections of senders, whose deliveries are not accepted then. */
  abort(): void {
    this.#server.closeAllConnections();
  }

  /** Receives nothing more, waits for the forwards in flight, and resolves with the totals. */
  async stop(): Promise<Summary> {
    this.#server.close();
    await new Promise<void>((resolve) => this.#dispatcher.windUp(resolve));
    const summary = { ...this.#dispatcher.close(0), received: this.#received };
    this.#server.closeIdleConnections();
    // A sender whose delivery was not answered sends it again.
    setImmediate(() => this.#server.closeAllConnections());
    this.#options.report({ event: "summary", ...summary });
    return summary;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== "POST") {
      response.setHeader("Allow", "POST");
      return refuse(request, response, 405, "Only POST is captured.");
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.once("close", () => (this.#heldBytes -= bytes));
    request.on("data", (chunk: Buffer) => {
      if (response.writableEnded) return;
      bytes += chunk.length;
      this.#heldBytes += chunk.length;
      const isTooLarge = bytes > MAX_BODY_BYTES;
      if (!isTooLarge && this.#heldBytes <= MAX_HELD_BYTES) return void chunks.push(chunk);
      chunks.length = 0;
      if (isTooLarge) refuse(request, response, 413, "The body is larger than 25 MiB.");
      else refuse(request, response, 503, "Too many deliveries are waiting.");
    });
    request.on("end", () => {
      if (!response.writableEnded) this.#captured(request, Buffer.concat(chunks), response);
    });
    request.on("error", () => response.destroy());
  }

  #captured(request: IncomingMessage, content: Buffer, response: ServerResponse): void {
    const { now, scheme, verify, received, report } = this.#options;
    const headers = endToEndHeaders(request.rawHeaders);
    const body = content.toString("utf8");
    const bytes = isUtf8(content) ? undefined : content;
    this.#received += 1;
    const { id = `delivery_${this.#received}`, type = request.url ?? "/" } = identify(request, body, scheme);
    report({ event: "received", id, type, body, verified: verify?.(content, headers) });
    const delivery = { at: now(), id, type, body, bytes, headers };
    received(delivery);
    if (this.#dispatcher.add({ ...delivery, bytes: content, response })) return;
    // After the turn in which the recording is written.
    setImmediate(() => response.writeHead(200, NO_BODY).end());
  }
}

/** The rest of the body is read and dropped: a connection that closes before could take the response with it. */
function refuse(request: IncomingMessage, response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" }).end(`${text}\n`);
  request.resume();
}

/** Otherwise an empty response would be sent in chunks. */
const NO_BODY = { "Content-Length": 0 };

/** The text of a network error names addresses of this machine, and the sender may be anywhere. */
function answerWith(response: ServerResponse, { status, excerpt = "" }: Outcome): void {
  if (status === undefined) {
    response.writeHead(502, { "Content-Type": "text/plain; charset=utf-8" }).end("The receiver did not answer.\n");
    return;
  }
  // Some providers check what a receiver answers, such as the challenge with which Slack verifies a URL.
  const hasBody = excerpt !== "" && status !== 204 && status !== 304;
  if (!hasBody) return void response.writeHead(status, status === 204 || status === 304 ? {} : NO_BODY).end();
  const type = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
  response.writeHead(status, type).end(excerpt);
}

/** Returns the ID and type of a delivery, as far as its provider states them where a known one does. */
function identify(
  { headers }: IncomingMessage,
  body: string,
  scheme: Scheme | undefined,
): { id?: string; type?: string } {
  const schemes: readonly Scheme[] = scheme === undefined ? Object.values(SCHEMES) : [scheme];
  const inHeader = (name: string | undefined): string | undefined => {
    const value = name === undefined ? undefined : headers[name.toLowerCase()];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const content = objectIn(body);
  const inBody = (name: string | undefined): string | undefined => {
    const value = name === undefined || !Object.hasOwn(content, name) ? undefined : content[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const first = (read: (scheme: Scheme) => string | undefined): string | undefined => {
    for (const candidate of schemes) {
      const found = read(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const id = first(({ id: place }) => inHeader(place?.header)) ?? first(({ id: place }) => inBody(place?.path));
  const type = first(({ headers: examples = {} }) => inHeader(Object.keys(examples)[0])) ?? inBody("type");
  return { ...(id === undefined ? {} : { id }), ...(type === undefined ? {} : { type }) };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}
