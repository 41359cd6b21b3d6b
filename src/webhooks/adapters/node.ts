import type { WebhookEvent } from "../event.ts";
import { SIGNATURE_HEADER } from "../signature-header.ts";
import { type NodeBodyStream, type ParsedBody, readNodeBody } from "./node-body.ts";
import { assertPost, type Problem, problemFor } from "./problem.ts";
import { createReceiver, type Receive, type WebhookOptions } from "./receiver.ts";

/** The part of `http.IncomingMessage` that a receiver of webhooks needs; frameworks' requests extend it. */
export interface NodeRequest extends NodeBodyStream, ParsedBody {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of `http.ServerResponse` that a receiver of webhooks needs; frameworks' responses extend it. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers?: Record<string, string>): this;
  end(body?: string): unknown;
  destroy(): unknown;
}

export interface NodeWebhookOptions extends WebhookOptions {
  /** Told what the handler or the `secrets` function threw: the answer is a bare 500, and nothing else reports it. */
  onError?: ((error: unknown) => void) | undefined;
}

/**
 * For `node:http`: `http.createServer(nodeWebhook({ secrets }, async (event, request, response) => { ... }))`. The
 * handler gets verified events only, and answers them; give its parameters `IncomingMessage` and `ServerResponse` as types
 * where it needs more of them. Everything else is answered with a problem document. Throws SignatureError at once where
 * the options are wrong.
 */
export function nodeWebhook<Request extends NodeRequest, Response extends NodeResponse>(
  { onError, ...options }: NodeWebhookOptions,
  handler: (event: WebhookEvent, request: Request, response: Response) => unknown,
): (request: Request, response: Response) => void {
  const receive = createReceiver(options);
  const serve = async (request: Request, response: Response): Promise<void> => {
    try {
      const event = await receiveOrRefuse(receive, request, response);
      if (event !== undefined) await handler(event, request, response);
    } catch (error) {
      fail(response);
      onError?.(error);
    }
  };
  return (request, response) => void serve(request, response);
}

/** The verified event, or undefined where the delivery was refused and that was answered. */
export async function receiveOrRefuse(
  receive: Receive,
  request: NodeRequest,
  response: NodeResponse,
): Promise<WebhookEvent | undefined> {
  try {
    assertPost(request.method);
    return await receive(request.headers[SIGNATURE_HEADER], (limit) => readNodeBody(request, request, limit));
  } catch (error) {
    answer(response, problemFor(error));
    return undefined;
  }
}

function answer(response: NodeResponse, { status, headers, body }: Problem): void {
  // Middleware, such as a time limit, may have answered while the body was being read.
  if (response.headersSent) return;
  response.writeHead(status, headers).end(body);
}

function fail(response: NodeResponse): void {
  if (response.writableEnded) return;
  if (response.headersSent) {
    // Half an answer must not look like a whole one.
    response.destroy();
    return;
  }
  response.writeHead(500).end();
}
