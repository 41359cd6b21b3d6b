import { apiPath } from "../../../client/base-url.ts";
import { HEADERS } from "../../../contract/headers.ts";
import { pathOf } from "../../../contract/resources.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import type { DeliveryHeaders } from "../../../webhooks/schemes.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";

/** The last request of a delivery, as its receiver received it. */
export interface DeliveredRequest {
  endpoint: string;
  headers: DeliveryHeaders;
  payload: Buffer;
  /** When it was signed, in Unix seconds. */
  signedAt: number;
}

/** Reads the last request of a delivery from the platform. Throws UserError if none was sent to an endpoint. */
export async function deliveredRequest(id: string, context: Context): Promise<DeliveredRequest> {
  const client = await context.client();
  const { body: delivery } = await client.request<Delivery>({
    method: "GET",
    path: pathOf("delivery") + apiPath`/${id}`,
  });
  const signature = delivery.attempts?.findLast(({ request_headers: headers }) => headers !== null)?.request_headers?.[
    HEADERS.signature
  ];
  const { endpoint } = delivery;
  if (signature === undefined || endpoint === null) {
    const hint = shellCommand`See its attempts: service deliveries get ${id}`;
    throw new UserError(`Delivery ${id} has not been sent to an endpoint`, { code: "not_sent", hint });
  }
  const { text } = await client.request({ method: "GET", path: pathOf("event") + apiPath`/${delivery.event}` });
  return {
    endpoint,
    headers: { [HEADERS.signature]: signature },
    payload: Buffer.from(text),
    signedAt: Number(/t=(\d+)/.exec(signature)?.[1]),
  };
}
