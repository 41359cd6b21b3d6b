import { vi } from "vitest";
import { type HostedPlatform, hostPlatform } from "./hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./scripted-receiver.ts";

/** A delivery as the API returns it. */
export interface Shown {
  id: string;
  status: string;
  next_attempt: string | null;
  attempt_count: number;
  created: string;
  endpoint: string;
  attempts: {
    at: string;
    status_code: number | null;
    error: string | null;
    duration_ms: number;
    response_excerpt: string | null;
  }[];
}

/** A platform and a receiver, with helpers for tests of deliveries. */
export interface DeliveryBench {
  platform: HostedPlatform;
  /** The path selects the response: `/503?retry-after=120`. */
  receiver: ScriptedReceiver;
  /** Creates an endpoint. `path` is a path of the receiver, or a whole URL. */
  createEndpoint: (path: string, events?: string[]) => Promise<{ id: string; secret: string }>;
  disable: (id: string) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
  /** Creates a customer and returns the ID of its event. */
  createCustomer: () => Promise<string>;
  /** Returns the delivery of an event to an endpoint, once it has this many attempts. */
  delivered: (event: string, endpoint: string, attempts?: number) => Promise<Shown>;
  close: () => Promise<void>;
}

export async function startDeliveryBench(): Promise<DeliveryBench> {
  const platform = await hostPlatform();
  const receiver = await startScriptedReceiver(({ path }, response) => {
    const { pathname, searchParams } = new URL(path, "http://receiver");
    const status = Number(pathname.slice(1, 4)) || 200;
    const headers: Record<string, string> = {};
    for (const name of ["retry-after", "location"]) {
      const value = searchParams.get(name);
      if (value !== null) headers[name] = value;
    }
    response.writeHead(status, headers).end(searchParams.get("body") ?? `answered ${status}`);
  });
  let emails = 0;
  return {
    platform,
    receiver,
    async createEndpoint(path, events = ["*"]) {
      const url = path.startsWith("http") ? path : receiver.url + path;
      return (await platform.api("POST", "/v1/webhook_endpoints", { url, events })).body;
    },
    disable: (id) => platform.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" }),
    remove: (id) => platform.api("DELETE", `/v1/webhook_endpoints/${id}`),
    async createCustomer() {
      const { id } = (await platform.api("POST", "/v1/customers", { email: `c${emails++}@example.com` })).body;
      return (await platform.api("GET", `/v1/events?related=${id}`)).body.data[0].id;
    },
    delivered: (event, endpoint, attempts = 1) =>
      vi.waitFor(
        async () => {
          const { data } = (await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${endpoint}`)).body;
          const delivery = (await platform.api("GET", `/v1/deliveries/${data[0].id}`)).body as Shown;
          if (delivery.attempt_count < attempts) throw new Error("not yet");
          return delivery;
        },
        { timeout: 60_000, interval: 10 },
      ),
    async close() {
      await platform.close();
      await receiver.close();
    },
  };
}
