import type { IdGenerator } from "../contract/ids.ts";
import { kindsWith, type KindWith, resourceOf } from "../contract/resources.ts";
import { formatTimestamp } from "../contract/timestamps.ts";

/** An event as the platform would send it. Its type may be one that does not exist. */
export interface SampleEvent {
  id: string;
  object: "event";
  type: string;
  created: string;
  livemode: false;
  data: { object: Record<string, unknown> };
  request: { id: string };
}

/** Returns an event of a type; `at` is Unix milliseconds. */
export function sampleEvent(type: string, ids: IdGenerator, at: number): SampleEvent {
  const resource = resourceNameOf(type);
  const kind = kindsWith("prefix").find((known) => known === resource) ?? "order";
  const created = formatTimestamp(at);
  return {
    id: ids("event", at),
    object: "event",
    type,
    created,
    livemode: false,
    data: { object: { id: ids(kind, at), object: resource, ...sampleFields(kind, type), livemode: false, created } },
    request: { id: ids("request", at) },
  };
}

function sampleFields(kind: KindWith<"prefix">, type: string): Record<string, unknown> {
  const { fields = {}, statuses = {} } = resourceOf(kind);
  const names = Object.keys(statuses);
  const status = names.find((name) => type.endsWith(`.${name}`)) ?? names[0];
  if (kind === "webhook_endpoint") return { events: ["*"], description: null, status };
  const members = Object.entries(fields).map(([name, field]) => {
    const isIncluded = field.required || field.type === "text";
    return [name, field.type === "status" ? status : isIncluded ? field.examples?.[0] : null];
  });
  return { ...Object.fromEntries(members), metadata: {} };
}

/** Returns the first event type of the type's resource, which precedes all others where order is kept. */
export function firstTypeOf(type: string): string {
  return type.startsWith("webhook_endpoint.") ? type : `${resourceNameOf(type)}.created`;
}

function resourceNameOf(type: string): string {
  return type.slice(0, type.indexOf("."));
}
