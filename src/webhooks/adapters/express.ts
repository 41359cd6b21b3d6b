import type { WebhookEvent } from "../event.ts";
import { type NodeRequest, type NodeResponse, receiveOrRefuse } from "./node.ts";
import { createReceiver, type WebhookOptions } from "./receiver.ts";

/** Express's `next`. */
export type NextFunction = (error?: unknown) => void;

/**
 * For Express 4 and 5: `app.post("/webhooks", expressWebhook({ secrets }, async (event, request, response) => { ... }))`,
 * registered before `express.json()`. What the handler throws goes to `next`. Throws SignatureError at once where the
 * options are wrong.
 */
export function expressWebhook<Request extends NodeRequest, Response extends NodeResponse>(
  options: WebhookOptions,
  handler: (event: WebhookEvent, request: Request, response: Response, next: NextFunction) => unknown,
): (request: Request, response: Response, next: NextFunction) => void {
  const receive = createReceiver(options);
  const serve = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    try {
      const event = await receiveOrRefuse(receive, request, response);
      if (event !== undefined) await handler(event, request, response, next);
    } catch (error) {
      next(error);
    }
  };
  return (request, response, next) => void serve(request, response, next);
}
