import { expect, it } from "vitest";
import type { RequestLog } from "../../src/contract/schemas/request-log.ts";
import { apiOf } from "../support/api.ts";
import { hostedPlatform } from "./delivery/support/hosted-platform.ts";

const platform = hostedPlatform();

it("the request log keeps the path that was sent unless a secret may be in place of an ID", async () => {
  const { id, key } = (await platform.api("POST", "/v1/api_keys", {})).body;
  const api = apiOf(platform.baseUrl, key);
  const sent = ["undefined", "null", "42", ":id", "pay_123", "sk_test_123", "hunter2", "a@b.example"];
  for (const part of sent) expect((await api("POST", `/v1/payments/${part}/succeed`)).status).toBe(404);
  await platform.api("POST", "/v1/sandbox/snapshots", { name: "two-customers" });
  expect((await api("DELETE", "/v1/sandbox/snapshots/two-customers")).status).toBe(200);
  const logs: RequestLog[] = (await platform.api("GET", `/v1/request_logs?key=${id}`)).body.data;
  const [deletion] = logs;
  expect(deletion!.path).toBe("/v1/sandbox/snapshots/two-customers");
  const paths = logs.map(({ path }) => path.split("/")[3]);
  expect(paths.toReversed()).toEqual([
    "undefined",
    "null",
    "42",
    ":id",
    "pay_123",
    "{id}",
    "{id}",
    "{id}",
    "snapshots",
  ]);
});

it("the request log is filtered by the beginning of a path, and paged", async () => {
  const { id, key } = (await platform.api("POST", "/v1/api_keys", {})).body;
  const api = apiOf(platform.baseUrl, key);
  for (const of of ["orders", "orders/ord_1", "payments", "orders/ord_2"]) await api("GET", `/v1/${of}`);
  const found = async (filter: string): Promise<string[]> => {
    const paths: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query = `/v1/request_logs?limit=1&key=${id}${filter}${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { body }: { body: { data: RequestLog[]; next_cursor: string | null } } = await platform.api("GET", query);
      paths.push(...body.data.map(({ path }) => path.slice("/v1/".length)));
      cursor = body.next_cursor;
    }
    return paths.toReversed();
  };
  expect(await found("&path=/v1/ord*")).toEqual(["orders", "orders/ord_1", "orders/ord_2"]);
  expect(await found("&path=/v1/orders*&status=404")).toEqual(["orders/ord_1", "orders/ord_2"]);
  expect(await found("&path=/v1/orders*&status=2xx&method=GET")).toEqual(["orders"]);
  expect(await found("&path=/v1/o_ders*")).toEqual([]);
  expect(await found("&path=/v1/orders/ord*&method=POST")).toEqual([]);
});
