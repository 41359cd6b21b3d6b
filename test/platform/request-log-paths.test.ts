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
  const logs: RequestLog[] = (await platform.api("GET", `/v1/request_logs?key=${id}`)).body.data;
  const paths = logs.map(({ path }) => path.split("/")[3]);
  expect(paths.toReversed()).toEqual(["undefined", "null", "42", ":id", "pay_123", "{id}", "{id}", "{id}"]);
});
