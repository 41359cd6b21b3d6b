import type { WebhookEvent } from "../event.ts";
import { SIGNATURE_HEADER } from "../signature-header.ts";
import { type NodeBodyStream, readNodeBody } from "./node-body.ts";
import { problemFor } from "./problem.ts";
import { createReceiver, type WebhookOptions } from "./receiver.ts";

/** The part of a Fastify request that a receiver of webhooks needs; `FastifyRequest` extends it. */
export interface FastifyWebhookRequest {
  readonly id: string;
  readonly log: Record<"info" | "warn" | "error", (details: unknown, message?: string) => void>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: NodeBodyStream;
  readonly rawBody?: unknown;
  body: unknown;
}

/** The part of a Fastify reply that a receiver of webhooks needs; `FastifyReply` extends it. */
export interface FastifyWebhookReply {
  code(status: number): this;
  status(status: number): this;
  header(name: string, value: string): this;
  headers(headers: Record<string, string>): this;
  send(body?: unknown): this;
}

/** The part of a Fastify instance that is used here. */
export interface FastifyWebhookScope<Request, Reply> {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    parser: (request: Request, stream: NodeBodyStream) => Promise<NodeBodyStream>,
  ): unknown;
  post(path: string, handler: (request: Request, reply: Reply) => Promise<unknown>): unknown;
}

/**
 * A Fastify plugin: `app.register(fastifyWebhook({ secrets }, async (event, request, reply) => reply.code(204).send()),
 * { prefix: "/webhooks" })`. It leaves the body unparsed in its own scope only, so the rest of the application keeps its
 * parsers. What the handler throws goes to Fastify's error handler. Throws SignatureError at once where the options are
 * wrong.
 */
export function fastifyWebhook<
  Request extends FastifyWebhookRequest = FastifyWebhookRequest,
  Reply extends FastifyWebhookReply = FastifyWebhookReply,
>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, request: Request, reply: Reply) => unknown,
): (scope: FastifyWebhookScope<Request, Reply>) => Promise<void> {
  const receive = createReceiver(options);
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", async (_request, stream) => stream);
    scope.post("/", async (request: Request, reply: Reply) => {
      let event: WebhookEvent;
      try {
        event = await receive(request.headers[SIGNATURE_HEADER], (limit) => {
          // Hooks may have put a stream of their own in the raw one's place. Without a body nothing is parsed.
          const stream = isStream(request.body) ? request.body : request.raw;
          return readNodeBody(stream, request, limit);
        });
      } catch (error) {
        const { status, headers, body } = problemFor(error);
        return reply.code(status).headers(headers).send(body);
      }
      return handler(event, request, reply);
    });
  };
}

function isStream(body: unknown): body is NodeBodyStream {
  return typeof body === "object" && body !== null && "readableDidRead" in body;
}
