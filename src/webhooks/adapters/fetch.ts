import type { WebhookEvent } from "../event.ts";
import { SIGNATURE_HEADER } from "../signature-header.ts";
import { type FetchBody, readFetchBody } from "./fetch-body.ts";
import { assertPost, problemFor } from "./problem.ts";
import { createReceiver, type Receive, type WebhookOptions } from "./receiver.ts";

/** The part of a Fetch `Request` that is used here. */
export interface FetchRequest extends FetchBody {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
}

/**
 * For any Fetch `Request`: `const event = await verifyRequest(request, { secrets })`. Reads the body. Rejects with
 * SignatureError, which the caller answers; `fetchWebhook` does that too.
 */
export async function verifyRequest(request: FetchRequest, options: WebhookOptions): Promise<WebhookEvent> {
  return receiveRequest(createReceiver(options), request);
}

/**
 * For servers that speak Fetch: `export const POST = fetchWebhook({ secrets }, async (event) => new Response(null, {
 * status: 204 }))`. Refused deliveries are answered; what the handler throws is thrown on. Throws SignatureError at once
 * where the options are wrong.
 */
export function fetchWebhook<Request extends FetchRequest>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, request: Request) => Response | Promise<Response>,
): (request: Request) => Promise<Response> {
  const receive = createReceiver(options);
  return async (request) => {
    let event: WebhookEvent;
    try {
      assertPost(request.method);
      event = await receiveRequest(receive, request);
    } catch (error) {
      const { body, ...init } = problemFor(error);
      return new Response(body, init);
    }
    return handler(event, request);
  };
}

/** Reads and verifies a request with a receiver that exists already. */
export async function receiveRequest(receive: Receive, request: FetchRequest): Promise<WebhookEvent> {
  return receive(request.headers.get(SIGNATURE_HEADER), (limit) => readFetchBody(request, limit));
}
