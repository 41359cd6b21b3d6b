import { expect, it } from "vitest";
import { startReceiver } from "../relay/support/receivers.ts";
import { apiOf } from "../support/api.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startListener } from "../support/listener.ts";

const on = cliOnPlatform();

const EVENTS = 64;
/** The other members of the request leave as much of 1 MiB. */
const note = "x".repeat(1024 * 1024 - 400);

it(`listen forwards and prints ${EVENTS} events of 1 MiB to a receiver that responds with 10 MiB and 500 headers`, async () => {
  const api = apiOf(on.platform.baseUrl, on.platform.sandboxKey);
  const headers = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`X-Header-${i}`, String(i)]));
  // JSON, in which acknowledgements are sent, escapes each of these characters with six.
  const large = Buffer.alloc(10 * 1024 * 1024, "\u0001");
  const receiver = await startReceiver((response) => response.writeHead(200, headers).end(large));
  const listener = await startListener(on.platform.env, ["--forward-to", receiver.url.href]);
  const ids: string[] = [];
  for (let i = 0; i < EVENTS; i++) {
    const { status, body } = await api("POST", "/v1/events", { type: "order.completed", data: { note } });
    expect(status).toBe(201);
    ids.push(body.id);
  }
  for (const id of ids) await listener.record((record) => record.event === "forwarded" && record["id"] === id);
  expect(await listener.interrupt()).toBe(0);
  expect(receiver.requests.filter(({ body }) => body.includes(note))).toHaveLength(EVENTS);
  const kinds: string[] = listener.records.map(({ event, status }) =>
    event === "forwarded" ? `forwarded ${String(status)}` : event,
  );
  expect(kinds.toSorted()).toEqual([
    ...Array<string>(EVENTS).fill("forwarded 200"),
    "ready",
    ...Array<string>(EVENTS).fill("received"),
    "summary",
  ]);
});
