import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { installPackages } from "./support/packages.ts";

interface CollectionItem {
  name: string;
  item?: CollectionItem[];
  request: { method: string; auth?: { type: string }; url: { path: string[]; query?: { key: string }[] } };
}

interface Collection {
  item: CollectionItem[];
}

interface Converter {
  convertV2: (
    input: { type: "string"; data: string },
    options: object,
    callback: (
      error: Error | null,
      result: { result: boolean; reason?: string; output: { data: Collection }[] },
    ) => void,
  ) => void;
}

interface Newman {
  run: (
    options: object,
    callback: (error: Error | null, summary: { run: { executions: Execution[] } }) => void,
  ) => void;
}

interface Execution {
  item: { name: string };
  requestError?: Error;
  response?: { code: number; text: () => string };
}

let platform: ServedPlatform;

beforeAll(async () => {
  platform = await servePlatform();
});
afterAll(() => platform.stop());

/** Creates an object of each kind. Returns an ID for each prefix. */
async function createObjects(): Promise<Map<string, string>> {
  const api = apiOf(platform.baseUrl, platform.sandboxKey);
  const ids = new Map<string, string>();
  const keep = (id: string) => {
    ids.set(id.split("_")[0]!, id);
    return id;
  };
  const create = async (path: string, body: object) => {
    const response = await api("POST", path, body);
    expect([path, response.status]).toEqual([path, 201]);
    return keep(response.body.id);
  };
  const endpoint = await create("/v1/webhook_endpoints", { url: "http://127.0.0.1:9/", events: ["*"] });
  await create("/v1/customers", { email: "grace@example.com" });
  await create("/v1/orders", { amount: 1, currency: "EUR" });
  await create("/v1/payments", { amount: 1, currency: "EUR" });
  await create("/v1/api_keys", { scopes: ["customers:read"] });
  await create("/v1/oauth_apps", { name: "Shop", redirect_uris: ["https://shop.example/callback"] });
  await create("/v1/events/replay", { endpoint });
  await create("/v1/faults", { match: { path: "/v1/versions" }, effect: "delay", delay_ms: 1 });
  for (const list of ["events", "deliveries", "request_logs"]) {
    await expect.poll(async () => (await api("GET", `/v1/${list}`)).body.data.length).toBeGreaterThan(0);
    keep((await api("GET", `/v1/${list}`)).body.data[0].id);
  }
  return ids;
}

const isRequest = ({ request }: CollectionItem) => request?.url.path[0] === "v1";

/** Returns the requests that an API key may send and that end: deletions late, and what affects other requests last. */
function requestsIn(items: readonly CollectionItem[]): CollectionItem[] {
  const all = (list: readonly CollectionItem[]): CollectionItem[] =>
    list.flatMap((one) => all(one.item ?? []).concat(one));
  const sent = all(items).filter(
    (one) => isRequest(one) && one.request.auth?.type === "bearer" && one.request.url.path.at(-1) !== "stream",
  );
  // A reset removes faults, too.
  const LATE = ["faults", "sandbox"];
  const orderOf = ({ request: { method, url } }: CollectionItem) => {
    const isDelete = method === "DELETE";
    const isOfAll = isDelete && url.path.length === 2;
    return (LATE.indexOf(url.path[1]!) + 1) * 4 + Number(isDelete) * 2 + Number(isOfAll);
  };
  return sent.toSorted((one, other) => orderOf(one) - orderOf(other));
}

it("newman runs every request of the collection that openapi-to-postmanv2 generates from the OpenAPI document", async () => {
  const folder = await installPackages("newman@6.2.2", "openapi-to-postmanv2@6.3.3");
  const load = createRequire(join(folder, "package.json"));
  const { convertV2 } = load("openapi-to-postmanv2") as Converter;
  const newman = load("newman") as Newman;
  const data = await (await fetch(`${platform.baseUrl}/openapi.json`)).text();
  const example = { parametersResolution: "Example" };
  const converted = await promisify(convertV2)({ type: "string", data }, example);
  expect(converted).toMatchObject({ result: true });

  const ids = await createObjects();
  const text = JSON.stringify(converted.output[0]!.data).replaceAll(
    /\b([a-z]+)_4Vf8aTqz0bKm2sNw9XyRcd/g,
    (example, prefix: string) => ids.get(prefix) ?? example,
  );
  const collection = JSON.parse(text) as Collection;
  collection.item = requestsIn(collection.item);
  expect(collection.item.length).toBeGreaterThan(50);
  for (const { request } of collection.item) {
    // Only a cursor from the platform is valid.
    request.url.query = request.url.query?.filter(({ key }) => key !== "cursor") ?? [];
  }
  const variables = { baseUrl: platform.baseUrl, bearerToken: platform.sandboxKey };
  const envVar = Object.entries(variables).map(([key, value]) => ({ key, value }));
  const { run } = await promisify(newman.run)({ collection, envVar });
  expect(run.executions).toHaveLength(collection.item.length);
  const rejected = run.executions.flatMap(({ item, requestError, response }) => {
    if (response === undefined) return [`${item.name}: ${requestError?.message}`];
    return response.code < 300 ? [] : [`${item.name}: ${response.code} ${JSON.parse(response.text()).code}`];
  });
  // An earlier request has created a customer with the example's email, or changed the object.
  expect(rejected).toEqual([
    "Update a customer: 409 email_taken",
    "Cancel a pending order: 409 invalid_transition",
    "Mark a pending payment as failed: 409 invalid_transition",
    "Rotate an API key: 409 key_not_usable",
  ]);
});
