import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode, servePlatform } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";

const EVENTS = 12;
const EVENT_BYTES = 1_000_000;
const PAGE_BYTES = 4 * 1024 * 1024;

interface Page {
  data: { id: string; data: { object: { text: string; note: string } } }[];
  has_more: boolean;
  next_cursor: string | null;
}

describe.each(["sqlite", "postgres"] as const)("a log of events of 1 MB on %s", (dialect) => {
  let server: Awaited<ReturnType<typeof usePostgres>> | undefined;
  let platform: ServedPlatform;
  let api: Api;
  const ids: string[] = [];

  beforeAll(async () => {
    if (dialect === "postgres") server = await usePostgres();
    platform = await (server === undefined ? servePlatform() : serveNode(await server.createDatabase()));
    api = apiOf(platform.baseUrl, platform.sandboxKey);
    for (let number = 1; number <= EVENTS; number++) {
      const data = { text: "a".repeat(EVENT_BYTES), note: `number ${number}` };
      ids.unshift((await api("POST", "/v1/events", { type: "order.created", data })).body.id as string);
      await api("POST", "/v1/customers", { email: `${number}@example.com` });
    }
  });
  afterAll(async () => {
    await platform.stop();
    await server?.remove();
  });

  async function pagesOf(path: string): Promise<Page[]> {
    const pages: Page[] = [];
    for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)!.next_cursor) {
      pages.push((await api("GET", cursor === "" ? path : `${path}&cursor=${cursor}`)).body as Page);
    }
    return pages;
  }

  it("is listed in pages of at most 4 MiB, which contain every event once", async () => {
    const pages = await pagesOf("/v1/events?limit=100&type=order.created");
    for (const { data } of pages) expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(PAGE_BYTES);
    expect(pages.map(({ data }) => data.length)).toEqual([4, 4, 4]);
    expect(pages.map((page) => page.has_more)).toEqual([true, true, false]);
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(ids);
    expect(pages[0]!.data[0]!.data.object).toEqual({ text: "a".repeat(EVENT_BYTES), note: `number ${EVENTS}` });
  });

  it("is searched 4 MiB per page, and finds small events among the large ones", async () => {
    const found = await pagesOf("/v1/events?limit=100&query=number 3");
    expect(found.length).toBeGreaterThan(2);
    expect(found.flatMap(({ data }) => data.map(({ id }) => id))).toEqual([ids[EVENTS - 3]]);
    const small = await pagesOf("/v1/events?limit=100&query=3@example.com");
    expect(small.flatMap(({ data }) => data)).toHaveLength(1);
  });

  it("reaches a stream in order, each event once", async () => {
    const stop = new AbortController();
    const response = await fetch(`${platform.baseUrl}/v1/events/stream?after=-3600&type=order.created`, {
      headers: { Authorization: `Bearer ${platform.sandboxKey}` },
      signal: stop.signal,
    });
    const received: string[] = [];
    let line = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) {
      const lines = (line + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n");
      line = lines.pop()!.slice(0, 200);
      received.push(...lines.filter((text) => text.startsWith("id: evt_")).map((text) => text.slice(4)));
      if (received.includes(ids[0]!)) break;
    }
    stop.abort();
    expect(received.slice(-EVENTS)).toEqual(ids.toReversed());
  });
});
