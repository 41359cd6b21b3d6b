import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseJson, valueAt } from "../contract/json.ts";
import { type Scheme, SCHEMES } from "../webhooks/schemes.ts";
import type { RelayedEvent } from "./delivery.ts";
import { Dispatcher, type ForwardingOptions, type Signing } from "./dispatcher.ts";
import { hintForOriginal } from "./forward-failure.ts";
import { endToEndHeaders, headerIn } from "./forward-headers.ts";
import type { Outcome } from "./ledger.ts";
import type { RecordedEvent } from "./recording.ts";
import type { ReceivedReport, Report, Summary } from "./report.ts";

/** Bodies may be as large as those of GitHub, the largest of any provider. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** Maximum size of all bodies in memory: deliveries wait there for the receiver. */
const MAX_HELD_BYTES = 4 * MAX_BODY_BYTES;
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;

/** A delivery as it was received. */
export interface CapturedDelivery extends RecordedEvent {
  headers: readonly string[];
}

interface Pending extends RelayedEvent {
  headers: readonly string[];
  /** Undefined for a manual resend. */
  response: ServerResponse | undefined;
}

export interface CaptureOptions extends ForwardingOptions {
  port: number;
  /** The provider, if it is known. */
  scheme?: Scheme | undefined;
  now: () => number;
  verify?: (payload: Uint8Array, headers: readonly string[]) => ReceivedReport["verified"];
  /** Called for each delivery before its response. */
  received: (delivery: CapturedDelivery) => void;
  report: (report: Report) => void;
}

/** Receives deliveries on loopback, forwards them, and returns the receiver's response to the sender. */
export class Capture {
  /** Returns the ID and type of a delivery, as far as its provider states them. `headers` are names and values. */
  readonly identify: Identify;
  readonly #options: CaptureOptions;
  readonly #server: Server;
  readonly #dispatcher: Dispatcher<Pending>;
  #heldBytes = 0;
  #received = 0;

  constructor(options: CaptureOptions) {
    this.#options = options;
    const schemes: readonly Scheme[] = Object.values(SCHEMES);
    const expected = options.scheme;
    this.identify = identifierOf(expected === undefined ? schemes : [expected]);
    const signing: Signing<Pending> = {
      headers: ({ headers }) => headers,
      rejectedHint: ({ headers }) =>
        hintForOriginal({
          headers,
          schemes,
          expected,
          keepsSignature: options.verify === undefined,
          now: options.now(),
        }),
    };
    this.#dispatcher = new Dispatcher<Pending>(options, signing, {
      settled: ({ response }, outcome) => answerWith(response!, outcome),
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

  /** IDs of the deliveries that were sent and have no response yet. */
  get inFlight(): string[] {
    return this.#dispatcher.inFlight;
  }

  /** Forwards nothing more until `resume`; senders wait. */
  pause(): void {
    this.#dispatcher.pause();
  }

  resume(): void {
    this.#dispatcher.resume();
  }

  /** Forwards a delivery again. Returns the number in its report; undefined if there is no receiver. */
  resend({ id, type, body, bytes }: RelayedEvent, headers: readonly string[], attempt: number): number | undefined {
    return this.#dispatcher.resend({ id, type, body, bytes, headers, response: undefined }, attempt);
  }

  /** Closes all connections of senders, whose deliveries are not accepted then. */
  abort(): void {
    this.#server.closeAllConnections();
  }

  /** Receives nothing more, waits for the forwards in flight, and resolves with the totals. */
  async stop(): Promise<Summary> {
    this.#server.close();
    await this.#dispatcher.windUp();
    const summary = this.summarize();
    this.#server.closeIdleConnections();
    // A sender that got no response to a delivery sends it again.
    setImmediate(() => this.#server.closeAllConnections());
    return summary;
  }

  /** Reports the totals, and closes the connections to receivers. */
  summarize(): Summary {
    const summary = { ...this.#dispatcher.close(), received: this.#received };
    this.#options.report({ event: "summary", ...summary });
    return summary;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const challenge = challengeIn(request);
    if (challenge !== undefined) return void response.writeHead(200, PLAIN_TEXT).end(challenge);
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
    const { now, verify, received, report } = this.#options;
    const headers = endToEndHeaders(request.rawHeaders);
    const body = content.toString("utf8");
    const bytes = isUtf8(content) ? undefined : content;
    this.#received += 1;
    // The path of a delivery without a type often distinguishes senders.
    const path = request.url === undefined || request.url === "/" ? "unknown" : request.url;
    const { id = `delivery_${this.#received}`, type = path } = this.identify(headers, body);
    const delivery = { at: now(), id, type, body, bytes, headers };
    const verified = verify?.(content, headers);
    report({ event: "received", ...delivery, path: request.url, verified });
    received(verified === undefined || verified === true ? delivery : { ...delivery, invalid: verified.code });
    if (this.#dispatcher.add({ ...delivery, bytes: content, response })) return;
    // After the turn in which the recording is written.
    const challenge = slackChallengeIn(body);
    setImmediate(() => response.writeHead(200, challenge === undefined ? NO_BODY : PLAIN_TEXT).end(challenge));
  }
}

/** The rest of the body is read and dropped: closing the connection earlier could lose the response. */
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
  // Some providers check the response, such as the challenge with which Slack verifies a URL.
  const hasBody = excerpt !== "" && status !== 204 && status !== 304;
  if (!hasBody) return void response.writeHead(status, status === 204 || status === 304 ? {} : NO_BODY).end();
  response.writeHead(status, PLAIN_TEXT).end(excerpt);
}

const PLAIN_TEXT = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };

/**
 * Returns the text that a provider expects back when a URL is registered: that of `hub.challenge` of Meta and WebSub, or of
 * `challenge` of Dropbox, in the query of a GET.
 */
function challengeIn({ method, url = "" }: IncomingMessage): string | undefined {
  if (method !== "GET" || !url.includes("challenge=")) return undefined;
  const { searchParams } = new URL(url, "http://localhost");
  return searchParams.get("hub.challenge") ?? searchParams.get("challenge") ?? undefined;
}

/** Returns the text that Slack expects back when a URL is registered. */
function slackChallengeIn(body: string): string | undefined {
  if (!body.includes('"url_verification"')) return undefined;
  const content = parseJson(body);
  return valueAt(content, "type") === "url_verification" ? textIn(content, ["challenge"]) : undefined;
}

type Identify = (headers: readonly string[], body: string) => { id?: string; type?: string };

/** Looks in the places that the providers use. */
function identifierOf(schemes: readonly Scheme[]): Identify {
  const idHeaders = schemes.flatMap(({ id }) => id?.header ?? []);
  const idPaths = schemes.flatMap(({ id }) => id?.path ?? []);
  const typeHeaders = schemes.flatMap(({ headers }) => Object.keys(headers ?? {}).slice(0, 1));
  return (headers, body) => {
    const content = body.trimStart().startsWith("{") ? parseJson(body) : undefined;
    const id = firstHeaderIn(headers, idHeaders) ?? textIn(content, idPaths);
    const type = firstHeaderIn(headers, typeHeaders) ?? textIn(content, ["type"]);
    return { ...(id === undefined ? {} : { id }), ...(type === undefined ? {} : { type }) };
  };
}

function firstHeaderIn(headers: readonly string[], names: readonly string[]): string | undefined {
  return names.map((name) => headerIn(headers, name)).find((value) => value !== undefined && value !== "");
}

/** Returns the first text that one of the paths leads to. */
function textIn(content: unknown, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const value = valueAt(content, path);
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
