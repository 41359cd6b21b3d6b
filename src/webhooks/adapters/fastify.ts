import type { WebhookEvent } from "../event.ts";
import { SIGNATURE_HEADER } from "../signature-header.ts";
import { type NodeBodyStream, readNodeBody } from "./node.ts";
import { createReceiver, type WebhookOptions } from "./receiver.ts";

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
