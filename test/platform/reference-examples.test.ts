import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kitPlatform, startPlatform } from "../testing/kit.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- objects of every shape
type Json = any;

const platform = kitPlatform();
const receiver = createServer((_request, response) => response.writeHead(500, { "Content-Length": "2" }).end("no"));
let paths: Json;
let schemas: Json;

beforeAll(async () => {
  const document: Json = await (await fetch(`${platform.baseUrl}/openapi.json`)).json();
  [paths, schemas] = [document.paths, document.components.schemas];
  await once(receiver.listen(0, "127.0.0.1"), "listening");
});

afterAll(() => receiver.close());

const JSON_TYPE = "application/json";
const request = (method: string, path: string, body?: object): Promise<Json> => platform.request(method, path, body);
const bodyOf = (path: string, method = "post"): Json => paths[path][method].requestBody?.content[JSON_TYPE].example;

/** Returns the ID of an object with the values of the example. */
async function create(path: string, values: object = {}): Promise<string> {
  return (await request("POST", path, { ...bodyOf(path), ...values })).id;
}

const customer = async (): Promise<string> =>
  (await request("POST", "/v1/customers", { email: `${crypto.randomUUID()}@example.com` })).id;
const order = async () => create("/v1/orders", { customer: await customer() });
const payment = async () => create("/v1/payments", { order: await order() });
const endpoint = () => create("/v1/webhook_endpoints");
const key = () => create("/v1/api_keys", { ip_allowlist: ["203.0.113.0/24"], expires_at: "2100-01-01T00:00:00Z" });

const app = () => create("/v1/oauth_apps");
const snapshot = async () => (await request("POST", "/v1/sandbox/snapshots", { name: "two-customers" })).name;
/** Removes the others: the first fault that matches applies. */
async function fault(): Promise<string> {
  await platform.faults.clear();
  return create("/v1/faults");
}

/** Returns a customer of an empty sandbox, so that no other has the email address of the example. */
async function onlyCustomer(): Promise<string> {
  await platform.reset();
  return customer();
}

/** Returns a delivery that got a 500 and is attempted again later. */
async function failedOnce(): Promise<string> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const { id } = await request("POST", "/v1/webhook_endpoints", { url, events: ["customer.created"] });
  await request("POST", "/v1/customers", { email: `${crypto.randomUUID()}@example.com` });
  await expect
    .poll(async () => (await request("GET", `/v1/deliveries?endpoint=${id}`)).data[0]?.last_status_code)
    .toBe(500);
  return (await request("GET", `/v1/deliveries?endpoint=${id}`)).data[0].id;
}

async function failed(): Promise<void> {
  await failedOnce();
  await platform.advance("4d");
}

/** Requests that change something, each with what exists before it. */
const CHANGES: Record<string, (() => Promise<string | void>)[]> = {
  "POST /v1/test_clock/advance": [],
  "POST /v1/customers": [],
  "PATCH /v1/customers/{id}": [onlyCustomer],
  "DELETE /v1/customers/{id}": [customer],
  "POST /v1/orders": [],
  "POST /v1/orders/{id}/complete": [order],
  "POST /v1/orders/{id}/cancel": [order],
  "POST /v1/payments": [],
  "POST /v1/payments/{id}/succeed": [payment],
  "POST /v1/payments/{id}/fail": [payment],
  "POST /v1/events": [],
  "POST /v1/webhook_endpoints": [],
  "PATCH /v1/webhook_endpoints/{id}": [endpoint],
  "POST /v1/webhook_endpoints/{id}/rotate_secret": [endpoint],
  "POST /v1/webhook_endpoints/{id}/ping": [endpoint],
  "DELETE /v1/webhook_endpoints/{id}": [endpoint],
  "POST /v1/deliveries/{id}/retry": [failedOnce],
  "POST /v1/deliveries/{id}/cancel": [failedOnce],
  "POST /v1/deliveries/retry": [failed],
  "POST /v1/events/replay": [failed],
  "POST /v1/api_keys": [],
  "PATCH /v1/api_keys/{id}": [key],
  "POST /v1/api_keys/{id}/revoke": [key],
  "POST /v1/api_keys/{id}/roll": [key],
  "POST /v1/oauth_apps": [],
  "PATCH /v1/oauth_apps/{id}": [app],
  "POST /v1/oauth_apps/{id}/rotate_secret": [app],
  "DELETE /v1/oauth_apps/{id}": [app],
  "POST /v1/sandbox/reset": [],
  "POST /v1/sandbox/snapshots": [order],
  "POST /v1/sandbox/snapshots/{id}/restore": [snapshot],
  "DELETE /v1/sandbox/snapshots/{id}": [snapshot],
  "POST /v1/faults": [],
  "DELETE /v1/faults/{id}": [fault],
  "DELETE /v1/faults": [fault],
};

/** They need a person who is signed in, a partner's signature, or work that is still in progress. */
const NOT_SENT = [
  "POST /v1/events/{id}/replay",
  "POST /v1/bulk_operations/{id}/cancel",
  "POST /v1/test_clock/cancel",
  "POST /v1/leaked_keys/report",
  "POST /v1/users",
  "DELETE /v1/users/{id}",
  "DELETE /v1/sessions/{id}",
  "POST /v1/oauth_grants/{id}/revoke",
];

it("the comparison includes every operation that changes something, except those that need more than a key", () => {
  const changes = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const compared = new Set([...Object.keys(CHANGES), ...NOT_SENT]);
  expect(changes.filter((operation) => !operation.startsWith("GET ") && !compared.has(operation))).toEqual([]);
});

it.each(Object.keys(CHANGES))("the reference shows the response to %s as it is", async (operation) => {
  const [method, path] = operation.split(" ") as [string, string];
  const id = await CHANGES[operation]![0]?.();
  const { responses } = paths[path][method.toLowerCase()];
  const [status] = Object.keys(responses);
  const response = await request(method, path.replace("{id}", String(id)), bodyOf(path, method.toLowerCase()));
  expect(masked(response)).toEqual(masked(responses[status!].content[JSON_TYPE].example));
});

/** What a read needs besides an order, and the ID that it takes. */
const READS: Record<string, () => Promise<string | void>> = {
  "GET /v1/customers": async () => void (await completeCustomer()),
  "GET /v1/customers/{id}": completeCustomer,
  "GET /v1/orders/{id}": order,
  "GET /v1/payments": async () => void (await payment()),
  "GET /v1/payments/{id}": payment,
  "GET /v1/events": async () => void (await completeCustomer()),
  "GET /v1/events/{id}": async () => {
    await completeCustomer();
    return (await request("GET", "/v1/events?type=customer.created")).data[0].id;
  },
  "GET /v1/webhook_endpoints": async () => void (await endpoint()),
  "GET /v1/webhook_endpoints/{id}": endpoint,
  "GET /v1/deliveries": async () => void (await failedOnce()),
  "GET /v1/deliveries/{id}": failedOnce,
  "GET /v1/bulk_operations": async () => void (await bulkOperation()),
  "GET /v1/bulk_operations/{id}": bulkOperation,
  "GET /v1/faults": async () => void (await fault()),
  "GET /v1/faults/{id}": fault,
  "GET /v1/sandbox/snapshots": async () => void (await snapshot()),
  "GET /v1/api_keys": async () => void (await key()),
  "GET /v1/api_keys/{id}": key,
  "GET /v1/oauth_apps": async () => void (await app()),
  "GET /v1/oauth_apps/{id}": app,
  "GET /v1/request_logs/{id}": async () => (await request("GET", "/v1/request_logs")).data[0].id,
};

/** Returns a customer with the optional fields, too. */
async function completeCustomer(): Promise<string> {
  return create("/v1/customers", { email: `${crypto.randomUUID()}@example.com` });
}

async function bulkOperation(): Promise<string> {
  return (await request("POST", "/v1/deliveries/retry", bodyOf("/v1/deliveries/retry"))).id;
}

it("the reference shows the members of every response to a read as they are", async () => {
  const wrong: string[] = [];
  for (const [path, { get }] of Object.entries<Json>(paths)) {
    if (get?.security[0].apiKey === undefined || !(JSON_TYPE in get.responses[200].content)) continue;
    await platform.faults.clear();
    await order();
    const id = await READS[`GET ${path}`]?.();
    const response = await request("GET", path.replace("{id}", String(id)));
    wrong.push(...differences(get.responses[200].content[JSON_TYPE].example, response, `GET ${path}`));
  }
  await request("DELETE", "/v1/sandbox/snapshots/two-customers");
  expect(wrong).toEqual([]);
});

it("the reference shows every header that an attempt sends", async () => {
  const headersOf = ({ attempts }: Json) => Object.keys(attempts[0].request_headers);
  const { get } = paths["/v1/deliveries/{id}"];
  const delivery = await request("GET", `/v1/deliveries/${await failedOnce()}`);
  expect(headersOf(get.responses[200].content[JSON_TYPE].example)).toEqual(headersOf(delivery));
});

/** Returns the places at which an example has a member or a type of value that the response does not have. */
function differences(example: Json, response: Json, place: string): string[] {
  if (example === null || response === null) return [];
  if (Array.isArray(example) && Array.isArray(response)) {
    return example.length === 0 || response.length === 0 ? [] : differences(example[0], response[0], `${place}[0]`);
  }
  if (typeof example !== "object") return typeof example === typeof response ? [] : [place];
  return Object.entries(example).flatMap(([name, value]) =>
    Object.hasOwn(response, name) ? differences(value, response[name], `${place} ${name}`) : [`${place} ${name}`],
  );
}

it("the reference shows no period that ends before it begins", () => {
  const wrong: string[] = [];
  const examples = Object.values<Json>(paths).flatMap((methods) =>
    Object.values<Json>(methods).flatMap(({ responses }) =>
      Object.values<Json>(responses).map((one) => one.content?.[JSON_TYPE]?.example),
    ),
  );
  JSON.stringify(examples, (_name, value) => {
    const { created, expires_at: end } = value ?? {};
    if (typeof end === "string" && typeof created === "string" && end <= created) wrong.push(JSON.stringify(value));
    return value;
  });
  expect(wrong).toEqual([]);
});

/** Returns the error examples on the pages of the reference: the problem for each operation's ID and code. */
async function errorExamples(): Promise<Record<string, Record<string, Json>>> {
  const textOf = async (path: string) => (await fetch(platform.baseUrl + path)).text();
  const pages = new Set((await textOf("/docs/reference")).match(/\/docs\/reference\/[\w-]+\.html/g));
  const html = (await Promise.all([...pages].map(textOf))).join("");
  const articles = html.split('<article id="').slice(1);
  return Object.fromEntries(articles.map((article) => [article.split('"', 1)[0], problemsIn(article)]));
}

function problemsIn(article: string): Record<string, Json> {
  const found = article.matchAll(/<summary>\d+ <code>(\w+)<.*?<pre[^>]*><code>(.*?)<\/code><\/pre>/gs);
  return Object.fromEntries(
    [...found].map(([, code, text]) => [
      code,
      JSON.parse(text!.replaceAll(/<[^>]*>/g, "").replaceAll(/&#(\d+);/g, (_all, at) => String.fromCharCode(at))),
    ]),
  );
}

/** Sends the request that causes an error: an empty body, a wrong value, an unknown parameter or an unknown ID. */
async function problemOf(key: string, method: string, path: string, body?: string): Promise<Json> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": JSON_TYPE };
  const response = await fetch(platform.baseUrl + path, { method, headers, ...(body !== undefined && { body }) });
  return { ...((await response.json()) as object), request_id: "" };
}

it("the reference shows the errors of each operation that takes a key as they are", async () => {
  await platform.reset();
  const shown = await errorExamples();
  const { key: other } = await request("POST", "/v1/api_keys", { name: "other", scopes: ["listen:read"] });
  const wrong: string[] = [];
  const counts: Record<string, number> = {};
  for (const [path, methods] of Object.entries<Json>(paths)) {
    for (const [verb, { operationId, requestBody, parameters = [], security }] of Object.entries<Json>(methods)) {
      if (!("apiKey" in security[0])) continue;
      const method = verb.toUpperCase();
      const url = path.replace("{id}", parameters.find((one: Json) => one.name === "id")?.schema.examples[0]);
      const body = requestBody === undefined ? undefined : JSON.stringify(bodyOf(path, verb));
      const send: Record<string, () => Promise<Json>> = {
        insufficient_scope: () => problemOf(other, method, url, body),
        not_found: () => problemOf(platform.apiKey, method, url, body),
        invalid_request: () =>
          problemOf(
            platform.apiKey,
            method,
            `${url}?${parameters.some((one: Json) => one.name === "limit") ? "limit=0" : "unknown=true"}`,
          ),
      };
      if (requestBody !== undefined) {
        const { $ref = "", ...inline } = requestBody.content[JSON_TYPE].schema;
        const schema = schemas[$ref.split("/").at(-1)] ?? inline;
        const value = requestBody.required ? {} : { [Object.keys(schema.properties)[0]!]: 0.5 };
        send["invalid_request"] = () => problemOf(platform.apiKey, method, url, JSON.stringify(value));
      }
      for (const [code, problem] of Object.entries(shown[operationId]!)) {
        if (!(code in send)) continue;
        counts[code] = (counts[code] ?? 0) + 1;
        const real = await send[code]!();
        const expected = { ...problem, request_id: "" };
        if (JSON.stringify(real) !== JSON.stringify(expected))
          wrong.push(JSON.stringify([operationId, expected, real]));
      }
    }
  }
  expect(wrong).toEqual([]);
  // It takes nothing that can be wrong.
  expect(shown["getOrder"]).not.toHaveProperty("invalid_request");
  expect(counts).toEqual({
    invalid_request: expect.any(Number),
    insufficient_scope: expect.any(Number),
    not_found: expect.any(Number),
  });
});

it("the reference has an example of each request to create an object that is accepted as it is", async () => {
  const empty = await startPlatform();
  const creations = Object.keys(paths).filter(
    (path) => paths[path].post !== undefined && bodyOf(path) !== undefined && !/\{|leaked|^\/v1\/users$/.test(path),
  );
  expect(creations.length).toBeGreaterThan(8);
  for (const path of creations) await empty.request("POST", path, bodyOf(path));
  await empty.close();
});

/** Returns a response without what differs each time: IDs, times, secrets, counts of what the sandbox has. */
function masked(response: object): Json {
  return JSON.parse(JSON.stringify(response), (name, value) => {
    if (["secret", "key", "client_secret", "last4", "prefix", "client_id"].includes(name)) return "text";
    if (["total", "objects", "offset_seconds"].includes(name)) return Math.sign(value);
    if (typeof value !== "string") return value;
    return value.replace(/^[a-z]+_[0-9A-Za-z]{22}$/, "ID").replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, "time");
  });
}
