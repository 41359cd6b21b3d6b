import { describe, expect, it } from "vitest";
import { listItems } from "../../src/client/pages.ts";
import { clientOf } from "./support/client.ts";
import { json, startServer } from "./support/scripted-server.ts";

const page = (data: number[], next_cursor: string | null) =>
  json(200, { object: "list", data, has_more: next_cursor !== null, next_cursor });

async function collect(items: AsyncIterable<number>): Promise<number[]> {
  const all: number[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("listItems", () => {
  it("follows the cursors to the end, with the filters on each page", async () => {
    const server = await startServer(page([1, 2], "c1"), page([3], "c2"), page([4], null));
    const items = listItems<number>(clientOf(server.url), "/v1/things", { query: { status: "pending" } });
    expect(await collect(items)).toEqual([1, 2, 3, 4]);
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/v1/things?status=pending&limit=100",
      "/v1/things?status=pending&limit=100&cursor=c1",
      "/v1/things?status=pending&limit=100&cursor=c2",
    ]);
  });

  it("continues after pages without items, as a search may return", async () => {
    const server = await startServer(page([], "c1"), page([], "c2"), page([7], "c3"));
    expect(await collect(listItems<number>(clientOf(server.url), "/v1/things", { max: 1 }))).toEqual([7]);
    expect(server.requests).toHaveLength(3);
  });

  it("requests only as many pages as needed", async () => {
    const server = await startServer(page(Array(100).fill(0), "c1"), page(Array(20).fill(0), "c2"));
    expect(await collect(listItems<number>(clientOf(server.url), "/v1/things", { max: 120 }))).toHaveLength(120);
    expect(server.requests.map(({ url }) => url)).toEqual(["/v1/things?limit=100", "/v1/things?limit=20&cursor=c1"]);
  });

  it("fetches a page only when its items are needed", async () => {
    const server = await startServer(page([1, 2], "c1"), page([3], null));
    for await (const item of listItems<number>(clientOf(server.url), "/v1/things")) if (item === 2) break;
    expect(server.requests).toHaveLength(1);
  });
});
