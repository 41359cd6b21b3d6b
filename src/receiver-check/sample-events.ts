import type { IdGenerator, IdKind } from "../contract/ids.ts";
import { formatTimestamp } from "../contract/timestamps.ts";

/** An event as the platform would send it (platform specification 6); its type may be one that does not exist. */
export interface SampleEvent {
  id: string;
  object: "event";
  type: string;
  created: string;
  livemode: false;
  data: { object: Record<string, unknown> };
  request: { id: string };
}

const OBJECTS: Readonly<Record<string, { kind: IdKind; fields: Record<string, unknown> }>> = {
  customer: { kind: "customer", fields: { email: "ada@example.com", name: "Ada Lovelace", phone: null, metadata: {} } },
  order: {
    kind: "order",
    fields: { amount: 4200, currency: "EUR", status: "completed", customer: null, metadata: {} },
  },
  payment: {
    kind: "payment",
    fields: { amount: 4200, currency: "EUR", status: "succeeded", order: null, failure_code: null, metadata: {} },
  },
  webhook_endpoint: { kind: "webhook_endpoint", fields: { events: ["*"], description: null, status: "enabled" } },
};

/** Makes events of a type; `at` is Unix milliseconds. */
export function sampleEvent(type: string, ids: IdGenerator, at: number): SampleEvent {
  const resource = resourceOf(type);
  const { kind, fields } = OBJECTS[resource] ?? OBJECTS["order"]!;
  const created = formatTimestamp(at);
  return {
    id: ids("event", at),
    object: "event",
    type,
    created,
    livemode: false,
    data: { object: { id: ids(kind, at), object: resource, ...fields, livemode: false, created } },
    request: { id: ids("request", at) },
  };
}

/** The first event in the life of the type's resource: what would come before it if order were kept. */
export function firstTypeOf(type: string): string {
  return type.startsWith("webhook_endpoint.") ? type : `${resourceOf(type)}.created`;
}

function resourceOf(type: string): string {
  return type.slice(0, type.indexOf("."));
}
