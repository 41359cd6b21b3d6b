import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { serveNode } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";

/** An index entry is at most a third of a page. */
const LONGER_THAN_AN_INDEX_HOLDS = 8_000;

it("a custom event may be about an object with an ID of any length", async () => {
  const server = await usePostgres();
  const node = await serveNode(await server.createDatabase());
  const id = randomBytes(LONGER_THAN_AN_INDEX_HOLDS).toString("base64");
  const api = apiOf(node.baseUrl, node.sandboxKey);
  const created = await api("POST", "/v1/events", { type: "order.created", data: { id } });
  expect([created.status, created.body.data?.object.id]).toEqual([201, id]);
  expect((await api("GET", `/v1/events/${created.body.id}`)).body).toEqual(created.body);
  await node.stop();
  await server.remove();
});
