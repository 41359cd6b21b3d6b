import type { WebhookEvent } from "../event.ts";
import { concatBytes } from "../mac.ts";
import type { Payload } from "../signature.ts";
import { SignatureError } from "../signature-error.ts";
import { SIGNATURE_HEADER } from "../signature-header.ts";
import { assertPost, bodyTooLarge, createReceiver, type Receiver, type WebhookOptions } from "./receiver.ts";

/** The used part of a Node readable stream (https://nodejs.org/api/stream.html). */
export interface NodeBodyStream {
  readonly readableDidRead: boolean;
  readonly readableEnded: boolean;
  readonly readableEncoding?: string | null;
  readonly destroyed: boolean;
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  destroy(): unknown;
}

/** Where body parsers store the raw and the parsed body. */
export interface ParsedBody {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/** The used part of `http.IncomingMessage`; requests of frameworks extend it. */
export interface NodeRequest extends NodeBodyStream, ParsedBody {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The used part of `http.ServerResponse`; responses of frameworks extend it. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers?: Record<string, string>): this;
  end(body?: string): unknown;
  destroy(): unknown;
}

/** What a handler of `expressWebhook` may use of Express's `Request` without annotating it. */
export interface ExpressRequest extends NodeRequest {
  readonly ip?: string | undefined;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
}

/** What a handler of `expressWebhook` may use of Express's `Response` without annotating it. */
export interface ExpressResponse extends NodeResponse {
  status(code: number): this;
  sendStatus(code: number): this;
  json(body?: unknown): this;
  send(body?: unknown): this;
}

/** Express's `next`. */
export type NextFunction = (error?: unknown) => void;

/** The used part of a Koa `Context`. */
export interface KoaContext {
  readonly req: NodeRequest;
  readonly request: ParsedBody;
  readonly method: string;
  status: number;
  body: unknown;
  respond?: boolean | undefined;
  set(name: string, value: string): void;
}

/**
 * Returns a listener for `node:http`: `http.createServer(nodeWebhook({ secrets }, (event, request, response) => {
 * response.writeHead(204).end() }))`. Calls the handler with verified events only, and responds to everything else with
 * problem details (RFC 9457). Responds 500 without details if the handler or the `secrets` function fails, and passes the
 * error to `onError`. Its promise never rejects, and resolves once the handler is done. Annotate the handler's parameters
 * with `IncomingMessage` and `ServerResponse` to use more of them. Throws SignatureError at once if the options are
 * invalid.
 */
export function nodeWebhook<Request extends NodeRequest = NodeRequest, Response extends NodeResponse = NodeResponse>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, request: Request, response: Response) => unknown,
): (request: Request, response: Response) => Promise<void> {
  const receiver = createReceiver(options);
  return async (request, response) => {
    try {
      const event = await receiveOrRespond(receiver, request, response);
      if (event !== undefined) await handler(event, request, response);
    } catch (error) {
      fail(response);
      await receiver.report(error);
    }
  };
}

/**
 * Returns a handler for Express 4 and 5: `app.post("/webhooks", expressWebhook({ secrets }, (event, request, response) =>
 * { response.sendStatus(204) }))`, registered before `express.json()`. Errors of the handler reach `next`. Throws
 * SignatureError at once if the options are invalid.
 */
export function expressWebhook<
  Request extends NodeRequest = ExpressRequest,
  Response extends NodeResponse = ExpressResponse,
>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, request: Request, response: Response, next: NextFunction) => unknown,
): (request: Request, response: Response, next: NextFunction) => void {
  const receiver = createReceiver(options);
  const serve = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    try {
      const event = await receiveOrRespond(receiver, request, response);
      if (event !== undefined) await handler(event, request, response, next);
    } catch (error) {
      next(error);
    }
  };
  return (request, response, next) => void serve(request, response, next);
}

/**
 * Returns a Koa middleware: `router.post("/webhooks", koaWebhook({ secrets }, (event, context) => { ... }))`, even
 * after `koa-bodyparser`, which keeps `rawBody`. Responds 204 if the handler sets neither a status nor a body; Koa
 * itself would respond 404, and the delivery would be retried. Errors of the handler, `context.throw` included, reach
 * Koa. Throws SignatureError at once if the options are invalid.
 */
export function koaWebhook<Context extends KoaContext>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, context: Context, next: () => Promise<unknown>) => unknown,
): (context: Context, next: () => Promise<unknown>) => Promise<void> {
  const receiver = createReceiver(options);
  return async (context, next) => {
    let event: WebhookEvent;
    try {
      event = await receiveFrom(receiver, context.method, context.req, context.request);
    } catch (error) {
      const { status, headers, body } = await receiver.reject(error);
      context.status = status;
      for (const [name, value] of Object.entries(headers)) context.set(name, value);
      context.body = body;
      return;
    }
    await handler(event, context, next);
    const { status, body } = context;
    if (status === 404 && (body === undefined || body === null) && context.respond !== false) context.status = 204;
  };
}

/** Returns the verified event, or undefined after it has responded to a rejected delivery. */
async function receiveOrRespond(
  receiver: Receiver,
  request: NodeRequest,
  response: NodeResponse,
): Promise<WebhookEvent | undefined> {
  try {
    return await receiveFrom(receiver, request.method, request, request);
  } catch (error) {
    const { status, headers, body } = await receiver.reject(error);
    // Middleware, such as a timeout, may have responded while the body was being read.
    if (!response.headersSent) response.writeHead(status, headers).end(body);
    return undefined;
  }
}

async function receiveFrom(
  { receive }: Receiver,
  method: string | undefined,
  request: NodeRequest,
  parsed: ParsedBody,
): Promise<WebhookEvent> {
  assertPost(method);
  return receive(request.headers[SIGNATURE_HEADER], async (limit) => readNodeBody(request, parsed, limit));
}

function fail(response: NodeResponse): void {
  if (response.writableEnded) return;
  if (response.headersSent) {
    // A truncated response must not pass for a complete one.
    response.destroy();
    return;
  }
  response.writeHead(500).end();
}

/** After the limit this many bytes more are read and dropped, so that the sender finishes and reads the response. */
const DISCARDED_BYTES = 16_777_216;

/**
 * Returns the raw body: from a parser if it kept bytes or text, else from the stream, holding at most `limit` bytes. Rejects
 * with SignatureError: `body_already_parsed`, `body_too_large`, `body_incomplete`.
 */
export async function readNodeBody(stream: NodeBodyStream, parsed: ParsedBody, limit: number): Promise<Payload> {
  const decoded = typeof stream.readableEncoding === "string";
  if (stream.readableDidRead || stream.readableEnded || decoded) return parsedBody(parsed);
  if (stream.destroyed) throw incomplete();
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    stream.on("data", (chunk) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      reject(bodyTooLarge(limit));
      if (size > limit + DISCARDED_BYTES) stream.destroy();
    });
    stream.on("end", () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : concatBytes(chunks)));
    stream.on("error", (cause) => reject(incomplete(cause)));
    stream.on("close", () => reject(incomplete()));
  });
}

function parsedBody({ rawBody, body }: ParsedBody): Payload {
  for (const candidate of [rawBody, body]) {
    if (typeof candidate === "string" || ArrayBuffer.isView(candidate)) return candidate as Payload;
  }
  throw new SignatureError(
    "body_already_parsed",
    "the body has been read before, and a signature covers the raw bytes: register this route before the body parser " +
      "(express.json() and the like), or let the parser keep the bytes in `request.rawBody` " +
      "(express.json({ verify: (request, response, bytes) => { request.rawBody = bytes } }))",
  );
}

function incomplete(cause?: Error): SignatureError {
  return new SignatureError("body_incomplete", "the connection ended before the body was complete", { cause });
}

/** The used part of a `FastifyRequest`. */
export interface FastifyWebhookRequest {
  readonly id: string;
  readonly log: Record<"info" | "warn" | "error", (details: unknown, message?: string) => void>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: NodeBodyStream;
  readonly rawBody?: unknown;
  body: unknown;
}

/** The used part of a `FastifyReply`. */
export interface FastifyWebhookReply {
  code(status: number): this;
  status(status: number): this;
  header(name: string, value: string): this;
  headers(headers: Record<string, string>): this;
  send(body?: unknown): this;
}

/** The used part of a `FastifyInstance`. */
export interface FastifyWebhookScope<Request, Reply> {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    parser: (request: Request, stream: NodeBodyStream) => Promise<NodeBodyStream>,
  ): unknown;
  post(path: string, handler: (request: Request, reply: Reply) => Promise<unknown>): unknown;
}

/**
 * Returns a Fastify plugin: `app.register(fastifyWebhook({ secrets }, (event, request, reply) => reply.code(204).send()),
 * { prefix: "/webhooks" })`. It removes the body parsers in its own scope only, so the rest of the application keeps them.
 * Errors of the handler reach Fastify's error handler. Throws SignatureError at once if the options are invalid.
 */
export function fastifyWebhook<
  Request extends FastifyWebhookRequest = FastifyWebhookRequest,
  Reply extends FastifyWebhookReply = FastifyWebhookReply,
>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, request: Request, reply: Reply) => unknown,
): (scope: FastifyWebhookScope<Request, Reply>) => Promise<void> {
  const { receive, reject } = createReceiver(options);
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", async (_request, stream) => stream);
    scope.post("/", async (request: Request, reply: Reply) => {
      let event: WebhookEvent;
      try {
        event = await receive(request.headers[SIGNATURE_HEADER], (limit) => {
          // Hooks may have replaced the raw stream. Without a body the parser does not run.
          const stream = isStream(request.body) ? request.body : request.raw;
          return readNodeBody(stream, request, limit);
        });
      } catch (error) {
        const { status, headers, body } = await reject(error);
        return reply.code(status).headers(headers).send(body);
      }
      return handler(event, request, reply);
    });
  };
}

function isStream(body: unknown): body is NodeBodyStream {
  return typeof body === "object" && body !== null && "readableDidRead" in body;
}
