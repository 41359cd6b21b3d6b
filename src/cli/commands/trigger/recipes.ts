import type { Method } from "../../../client/http.ts";
import { apiPath } from "../../../client/path.ts";
import type { EventType } from "../../../contract/event-types.ts";

/** One call of a recipe. `id` is that of the object that the first call made. */
export interface Step {
  method: Method;
  path(id: string): string;
  /** Absent where the call has no body. */
  body?: (unique: string) => Record<string, unknown>;
  /** Members of the body that `--override` may set. */
  takes: readonly string[];
}

const CUSTOMER_FIELDS = ["email", "name", "phone", "metadata"];
const PRICE = { amount: 1999, currency: "EUR" };

const CREATE_CUSTOMER: Step = {
  method: "POST",
  path: () => "/v1/customers",
  body: (unique) => ({ email: `ada.${unique}@example.com`, name: "Ada Lovelace" }),
  takes: CUSTOMER_FIELDS,
};

const CREATE_ORDER: Step = {
  method: "POST",
  path: () => "/v1/orders",
  body: () => PRICE,
  takes: ["amount", "currency", "customer", "metadata"],
};

const CREATE_PAYMENT: Step = {
  method: "POST",
  path: () => "/v1/payments",
  body: () => PRICE,
  takes: ["amount", "currency", "order", "metadata"],
};

/** How each event comes about: the calls that an application would make. */
export const RECIPES: Readonly<Record<EventType, readonly Step[]>> = {
  "customer.created": [CREATE_CUSTOMER],
  "customer.updated": [
    { ...CREATE_CUSTOMER, takes: [] },
    {
      method: "PATCH",
      path: (id) => apiPath`/v1/customers/${id}`,
      body: () => ({ name: "Ada King" }),
      takes: CUSTOMER_FIELDS,
    },
  ],
  "customer.deleted": [CREATE_CUSTOMER, { method: "DELETE", path: (id) => apiPath`/v1/customers/${id}`, takes: [] }],
  "order.created": [CREATE_ORDER],
  "order.completed": [CREATE_ORDER, move((id) => apiPath`/v1/orders/${id}/complete`)],
  "order.canceled": [CREATE_ORDER, move((id) => apiPath`/v1/orders/${id}/cancel`)],
  "payment.created": [CREATE_PAYMENT],
  "payment.succeeded": [CREATE_PAYMENT, move((id) => apiPath`/v1/payments/${id}/succeed`)],
  "payment.failed": [CREATE_PAYMENT, move((id) => apiPath`/v1/payments/${id}/fail`, ["failure_code"])],
  "webhook_endpoint.ping": [eventStep("webhook_endpoint.ping", { object: "webhook_endpoint", status: "enabled" })],
};

/** Makes the event itself, with a `data.object` of the caller's choice; the platform takes this in the sandbox only. */
export function eventStep(type: EventType, object: Record<string, unknown>): Step {
  return { method: "POST", path: () => "/v1/events", body: () => ({ type, data: { object } }), takes: [] };
}

function move(path: Step["path"], takes: readonly string[] = []): Step {
  return { method: "POST", path, body: () => ({}), takes };
}
