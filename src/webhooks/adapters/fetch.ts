import type { WebhookEvent } from "../event.ts";
import { concatBytes } from "../mac.ts";
import { SignatureError } from "../signature-error.ts";
import { SIGNATURE_HEADER } from "../signature-header.ts";
import { assertPost, bodyTooLarge, createReceiver, type Receiver, type WebhookOptions } from "./receiver.ts";

/** The used part of a Fetch `Request` (https://developer.mozilla.org/docs/Web/API/Request). */
export interface FetchRequest {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
  readonly bodyUsed: boolean;
  readonly body: {
    readonly locked: boolean;
    getReader(): FetchBodyReader;
  } | null;
}

/** The used part of a `ReadableStreamDefaultReader`. */
export interface FetchBodyReader {
  read(): Promise<{ done: boolean; value?: unknown }>;
}

/** The used part of a Hono `Context`. */
export interface HonoContext {
  readonly req: { readonly raw: FetchRequest; header(name: string): string | undefined };
  header(name: string, value: string): void;
  body(data: string | null, status?: number, headers?: Record<string, string>): Response;
  text(text: string, status?: number): Response;
  json(value: object, status?: number): Response;
}

/**
 * Reads and verifies a Fetch `Request`: `const event = await verifyRequest(request, { secrets })`. Rejects with
 * SignatureError, to which the caller responds; `fetchWebhook` responds automatically. Works in every runtime.
 */
export async function verifyRequest(request: FetchRequest, options: WebhookOptions): Promise<WebhookEvent> {
  return receiveRequest(createReceiver(options), request);
}

/**
 * Returns a Fetch handler: `export const POST = fetchWebhook({ secrets }, (event) => new Response(null, { status: 204 }))`.
 * For Next.js, Remix, Workers, Deno and Bun. Responds to rejected deliveries; rethrows errors of the handler. Throws
 * SignatureError at once if the options are invalid.
 */
export function fetchWebhook<Request extends FetchRequest = globalThis.Request>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, request: Request) => Response | Promise<Response>,
): (request: Request) => Promise<Response> {
  const receiver = createReceiver(options);
  return async (request) => {
    let event: WebhookEvent;
    try {
      assertPost(request.method);
      event = await receiveRequest(receiver, request);
    } catch (error) {
      const { body, ...init } = await receiver.reject(error);
      return new Response(body, init);
    }
    return handler(event, request);
  };
}

/**
 * Returns a Hono handler: `app.post("/webhooks", honoWebhook({ secrets }, (event, c) => c.body(null, 204)))`. Errors of the
 * handler reach `app.onError`. Throws SignatureError at once if the options are invalid.
 */
export function honoWebhook<Context extends HonoContext>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, context: Context) => Response | Promise<Response>,
): (context: Context) => Promise<Response> {
  const receiver = createReceiver(options);
  return async (context) => {
    let event: WebhookEvent;
    try {
      assertPost(context.req.raw.method);
      event = await receiveRequest(receiver, context.req.raw);
    } catch (error) {
      // Through the context, so that the response keeps the headers that middleware has set.
      const { status, headers, body } = await receiver.reject(error);
      return context.body(body, status, headers);
    }
    return handler(event, context);
  };
}

async function receiveRequest({ receive }: Receiver, request: FetchRequest): Promise<WebhookEvent> {
  return receive(request.headers.get(SIGNATURE_HEADER), async (limit) => readBody(request, limit));
}

/** Reads the raw body and holds at most `limit` bytes of it. */
async function readBody(request: FetchRequest, limit: number): Promise<Uint8Array> {
  if (request.bodyUsed || request.body?.locked === true) {
    throw new SignatureError(
      "body_already_parsed",
      "the body has been read before, and a signature covers the raw bytes: verify before request.json() or text(), or " +
        "pass a request.clone() that was created before",
    );
  }
  const chunks: Uint8Array[] = [];
  const reader = request.body?.getReader();
  let size = 0;
  for (;;) {
    const chunk = reader === undefined ? undefined : await nextChunk(reader);
    if (chunk === undefined) return concatBytes(chunks);
    size += chunk.byteLength;
    // Left unread, not canceled: canceling drops the connection on some servers, and the response with it.
    if (size > limit) throw bodyTooLarge(limit);
    chunks.push(chunk);
  }
}

async function nextChunk(reader: FetchBodyReader): Promise<Uint8Array | undefined> {
  try {
    const { done, value } = await reader.read();
    if (done) return undefined;
    // Not instanceof: bytes of another realm, such as a test runner's sandbox, are bytes too.
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  } catch (cause) {
    throw new SignatureError("body_incomplete", "the body's stream failed before the body was complete", { cause });
  }
  throw new SignatureError("payload_not_raw", "the body's stream yields chunks that are not bytes");
}
