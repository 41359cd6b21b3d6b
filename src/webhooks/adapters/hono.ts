import type { WebhookEvent } from "../event.ts";
import { type FetchRequest, receiveRequest } from "./fetch.ts";
import { assertPost, problemFor } from "./problem.ts";
import { createReceiver, type WebhookOptions } from "./receiver.ts";

/** The part of a Hono context that a receiver of webhooks needs; Hono's own `Context` extends it. */
export interface HonoContext {
  readonly req: { readonly raw: FetchRequest; header(name: string): string | undefined };
  header(name: string, value: string): void;
  body(data: string | null, status?: number, headers?: Record<string, string>): Response;
  text(text: string, status?: number): Response;
  json(value: object, status?: number): Response;
}

/**
 * For Hono: `app.post("/webhooks", honoWebhook({ secrets }, (event, c) => c.body(null, 204)))`. What the handler throws
 * goes to `app.onError`. Throws SignatureError at once where the options are wrong.
 */
export function honoWebhook<Context extends HonoContext>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, context: Context) => Response | Promise<Response>,
): (context: Context) => Promise<Response> {
  const receive = createReceiver(options);
  return async (context) => {
    let event: WebhookEvent;
    try {
      assertPost(context.req.raw.method);
      event = await receiveRequest(receive, context.req.raw);
    } catch (error) {
      // Through the context, so that headers which middleware has set stay on the answer.
      const { status, headers, body } = problemFor(error);
      return context.body(body, status, headers);
    }
    return handler(event, context);
  };
}
