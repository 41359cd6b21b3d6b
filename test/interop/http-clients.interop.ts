import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { apiOf } from "../support/api.ts";
import { startLine } from "../support/line.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { importPackage } from "./support/packages.ts";

let platform: ServedPlatform;

beforeAll(async () => {
  platform = await servePlatform();
});
afterAll(() => platform.stop());

const authorization = () => ({ Authorization: `Bearer ${platform.sandboxKey}` });

async function newOrder(): Promise<string> {
  const response = await apiOf(platform.baseUrl, platform.sandboxKey)("POST", "/v1/orders", {
    amount: 1,
    currency: "EUR",
  });
  return response.body.id as string;
}

interface Axios {
  post: (url: string, body?: unknown, options?: object) => Promise<{ status: number; data: { status: string } }>;
}

interface Got {
  paginate: { all: (url: string, options: object) => Promise<{ id: string }[]> };
}

interface Ky {
  post: (url: string, options: object) => { json: () => Promise<{ status: string }> };
}

interface EventSourcePackage {
  EventSource: new (
    url: string,
    options: { fetch: typeof fetch },
  ) => {
    addEventListener: (type: string, listener: (event: { data: string }) => void) => void;
    close: () => void;
  };
}

describe("third-party HTTP clients with their defaults", () => {
  it("axios posts without a body", async () => {
    const { default: axios } = await importPackage<{ default: Axios }>("axios", "1.21.1");
    const headers = authorization();
    const form = { ...headers, "Content-Type": "application/x-www-form-urlencoded" };
    for (const [body, sent] of [
      [undefined, headers],
      [null, headers],
      ["", form],
    ] as const) {
      const url = `${platform.baseUrl}/v1/orders/${await newOrder()}/complete`;
      const response = await axios.post(url, body, { headers: sent });
      expect([response.status, response.data.status]).toEqual([200, "completed"]);
    }
  });

  it("got reads every page of a list", async () => {
    const { default: got } = await importPackage<{ default: Got }>("got", "14.6.5");
    const created: string[] = [];
    for (let count = 0; count < 6; count++) created.unshift(await newOrder());
    const orders = await got.paginate.all(`${platform.baseUrl}/v1/orders?limit=2&status=pending`, {
      headers: authorization(),
      responseType: "json",
      pagination: { transform: ({ body }: { body: { data: { id: string }[] } }) => body.data },
    });
    expect(orders.map(({ id }) => id)).toEqual(created);
  });

  it("ky posts without a body", async () => {
    const { default: ky } = await importPackage<{ default: Ky }>("ky", "2.1.0");
    const url = `${platform.baseUrl}/v1/orders/${await newOrder()}/complete`;
    expect(await ky.post(url, { headers: authorization() }).json()).toMatchObject({ status: "completed" });
  });

  it("eventsource neither misses nor repeats an event when its connection is cut", async () => {
    const { EventSource } = await importPackage<EventSourcePackage>("eventsource", "5.1.5");
    const line = await startLine(platform.baseUrl);
    const source = new EventSource(`${line.url}/v1/events/stream?type=order.created`, {
      fetch: (url, init) => {
        const headers = new Headers(init?.headers);
        headers.set("Authorization", authorization().Authorization);
        return fetch(url, { ...init, headers });
      },
    });
    onTestFinished(() => source.close());
    const received: string[] = [];
    source.addEventListener("message", ({ data }) => received.push(JSON.parse(data).data.object.id));
    let connected = 0;
    source.addEventListener("ready", () => (connected += 1));
    await expect.poll(() => connected).toBe(1);
    const created = [await newOrder()];
    await expect.poll(() => received).toEqual(created);
    for (const connections of [2, 3]) {
      line.cut();
      created.push(await newOrder(), await newOrder());
      await expect.poll(() => connected).toBe(connections);
      await expect.poll(() => received).toEqual(created);
    }
  });
});
