import { expect, it } from "vitest";
import { advanceClock } from "../support/advance-clock.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode, servePlatform } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";

const HOUR_SECONDS = 3600;

const engines: Record<string, () => Promise<{ platform: ServedPlatform; remove: () => Promise<void> }>> = {
  SQLite: async () => ({ platform: await servePlatform(), remove: async () => {} }),
  PostgreSQL: async () => {
    const server = await usePostgres();
    return { platform: await serveNode(await server.createDatabase()), remove: () => server.remove() };
  },
};

it.each(Object.entries(engines))(
  "%s filters lists, searches and bulk operations by the time of creation",
  async (_name, start) => {
    const { platform, remove } = await start();
    const api = apiOf(platform.baseUrl, platform.sandboxKey);
    const create = async (name: string) =>
      expect((await api("POST", "/v1/customers", { name, email: `${name}@example.com` })).status).toBe(201);
    await api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:9", events: ["customer.*"] });
    // One hour from now: between the real time and the advanced test clock.
    const between = new Date(Date.now() + HOUR_SECONDS * 1000).toISOString().replace(/\.\d+/, "");
    await create("before");
    await advanceClock(api, 2 * HOUR_SECONDS);
    await create("ahead");
    await create("last");
    const [all, early, late] = ["", `created_before=${between}`, `created_after=${between}`] as const;

    const lists = listsOf(api);
    for (const list of [lists.customers, lists.events]) {
      expect(await list(all)).toEqual(["last", "ahead", "before"]);
      expect(await list(early)).toEqual(["before"]);
      expect(await list(late)).toEqual(["last", "ahead"]);
      expect(await list(`${early}&query=example.com`)).toEqual(["before"]);
      expect(await list(`${late}&query=example.com`)).toEqual(["last", "ahead"]);
    }
    expect([await lists.deliveries(all), await lists.deliveries(early), await lists.deliveries(late)]).toEqual([
      3, 1, 2,
    ]);

    const path = `/v1/customers?${late}&limit=1`;
    const first = (await api("GET", path)).body;
    expect(first).toMatchObject({ data: [{ name: "last" }], has_more: true });
    const second = (await api("GET", `${path}&cursor=${first.next_cursor}`)).body;
    expect(second).toMatchObject({ data: [{ name: "ahead" }], has_more: false });

    const replay = (times: object) => api("POST", "/v1/events/replay", { type: "customer.created", ...times });
    expect((await replay({ created_before: between, dry_run: true })).body.total).toBe(1);
    const { body } = await replay({ created_after: between });
    const operation = async () => (await api("GET", `/v1/bulk_operations/${body.id}`)).body;
    await expect.poll(operation).toMatchObject({ status: "succeeded", total: 2, done: 2 });
    await platform.stop();
    await remove();
  },
);

function listsOf(api: Api) {
  const read = async (path: string) => (await api("GET", path)).body.data;
  return {
    customers: async (query: string) =>
      (await read(`/v1/customers?${query}`)).map(({ name }: { name: string }) => name) as string[],
    events: async (query: string) =>
      (await read(`/v1/events?type=customer.created&${query}`)).map(
        ({ data }: { data: { object: { name: string } } }) => data.object.name,
      ) as string[],
    deliveries: async (query: string) => (await read(`/v1/deliveries?${query}`)).length as number,
  };
}
