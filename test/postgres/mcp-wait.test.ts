import { afterAll, beforeAll, expect, it } from "vitest";
import { lowestIdAt, timeOfId } from "../../src/contract/ids.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";

let server: Awaited<ReturnType<typeof usePostgres>>;
let url: string;
let platform: ServedPlatform;
let api: Api;

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  platform = await serveNode(url);
  api = apiOf(platform.baseUrl, platform.sandboxKey);
});
afterAll(async () => {
  await platform.stop();
  await server.remove();
});

/** Calls the MCP tool that waits. */
async function wait(input: object): Promise<{ event: { id: string } | null; after: string }> {
  const response = await fetch(`${platform.baseUrl}/mcp`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${platform.sandboxKey}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "wait_for_event", arguments: input },
    }),
  });
  const text = await response.text();
  const message = JSON.parse(/^data: (.*)$/m.exec(text)![1]!) as { result: { structuredContent: never } };
  return message.result.structuredContent;
}

it.each([
  ["a few seconds", 5_000, false],
  ["an hour, as after the database's clock was set back", 3_600_000, false],
  ["an hour, if that one is damaged", 3_600_000, true],
])(
  "a wait returns an event that was committed after one whose ID is higher by %s",
  async (_, milliseconds, isDamaged) => {
    const { id: older } = (await api("POST", "/v1/events", { type: "order.created", data: { n: 1 } })).body;
    const { id: newest } = (await api("POST", "/v1/events", { type: "order.created", data: { n: 2 } })).body;
    const late = lowestIdAt("event", timeOfId(older) - milliseconds);
    await server.query(
      `INSERT INTO events (environment, id, type, object_id, created, body)
     SELECT environment, $1, 'payment.failed', NULL, created, replace(replace(body, $2, $1), 'order.created', 'payment.failed')
     FROM events WHERE id = $2`,
      [late, newest],
      url,
    );
    if (isDamaged) await server.query("UPDATE events SET body = replace(body, '2', '3') WHERE id = $1", [newest], url);
    // A transaction of another test on the same server holds events back.
    const found = await wait({ after: newest, timeout_seconds: 60 });
    expect(found).toMatchObject({ event: { id: late, type: "payment.failed" }, after: late });
    expect(await wait({ after: late, timeout_seconds: 1 })).toMatchObject({ event: null, after: late });
    expect(await wait({ after: older, type: "payment.*", timeout_seconds: 60 })).toMatchObject({ event: { id: late } });
  },
);
