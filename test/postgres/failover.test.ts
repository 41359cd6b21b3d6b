import { EventSource } from "eventsource";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findViolations } from "../invariants/invariants.ts";
import { apiOf } from "../support/api.ts";
import { startChromium } from "../support/chromium.ts";
import { type RunningListener, startListener } from "../support/listener.ts";
import { type ServedPlatform, serveNode } from "../support/platform.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../support/postgres.ts";
import { PATIENCE } from "../support/patience.ts";
import { volume } from "../support/volume.ts";

const LISTENERS = volume(3, 1);
const LOST = 100;
/** Fewer transactions than were lost, so that their IDs are reused. */
const NEW = 15;
const AT_ONCE = 5;

/** A client's received event IDs and gaps. */
interface Client {
  events: () => string[];
  gaps: () => { from: string; to: string }[];
}

let server: OwnPostgresServer;
let node: ServedPlatform;
let listeners: RunningListener[];
let source: EventSource;
let chromium: Browser;
let page: Page;
let clients: Client[];

beforeAll(async () => {
  [server, chromium] = await Promise.all([startOwnPostgres(), startChromium()]);
  node = await serveNode(await server.createDatabase());
  listeners = await Promise.all(Array.from({ length: LISTENERS }, () => startListener(node.env, [])));
  source = new EventSource(`${node.baseUrl}/v1/events/stream`, {
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...init?.headers, Authorization: `Bearer ${node.sandboxKey}` } }),
  });
  const streamed = { events: [] as string[], gaps: [] as { from: string; to: string }[] };
  source.addEventListener("message", ({ data }) => streamed.events.push(JSON.parse(data).id));
  source.addEventListener("gap", ({ data }) => streamed.gaps.push(JSON.parse(data)));
  await new Promise((resolve) => {
    source.addEventListener("ready", resolve, { once: true });
  });
  clients = [
    ...listeners.map(({ records }) => {
      const of = (name: string) => records.filter(({ event }) => event === name);
      return {
        events: () => of("received").map(({ id }) => String(id)),
        gaps: () => of("gap").map(({ from, to }) => ({ from: String(from), to: String(to) })),
      };
    }),
    { events: () => streamed.events, gaps: () => streamed.gaps },
  ];
  page = await chromium.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(node.ready.sign_in_url!);
  await page.locator("#menu").getByRole("link", { name: "Events", exact: true }).click();
});
afterAll(async () => {
  source.close();
  await chromium.close();
  await Promise.all(listeners.map((listener) => listener.interrupt()));
  await node.stop();
  await server.remove();
});

/** Creates events and retries failed requests. Returns the IDs of all, each acknowledged by a 201. */
async function create(name: string, count: number): Promise<string[]> {
  const api = apiOf(node.baseUrl, node.sandboxKey);
  const ids: string[] = [];
  const waiting = Array.from({ length: count }, (_, i) => `${name}-${i}`);
  const worker = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const key = next;
      const event = { type: "order.created", data: { id: key } };
      let id = "";
      // The database may be unavailable for a while.
      const post = async () => {
        const { status, body } = await api("POST", "/v1/events", event, { "Idempotency-Key": key });
        id = body.id;
        return status;
      };
      await expect.poll(post).toBe(201);
      ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return ids;
}

/** The object IDs of the events. */
function namesOf(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `order.created ${name}-${i}`);
}

async function receivedByAll(ids: readonly string[]): Promise<void> {
  for (const client of clients) {
    await expect.poll(() => ids.filter((id) => !client.events().includes(id))).toEqual([]);
  }
}

it("every client receives every event of the new primary after a failover to a standby that lacks the last commits", async () => {
  const list = page.getByRole("table", { name: "Events, newest first" });
  const linkTo = (id: string) => list.locator(`a[href$="${id}"]`);
  const surviving = await create("kept", 3);
  await receivedByAll(surviving);
  await server.copyToStandby();
  const lost = await create("lost", LOST);
  await receivedByAll(lost);
  await expect.poll(() => linkTo(lost.at(-1)!).count()).toBe(1);

  await server.failOver();
  const created = await create("new", NEW);
  await receivedByAll(created);
  await expect.poll(() => list.getByRole("link").count()).toBe(surviving.length + created.length);
  for (const id of created) expect(await linkTo(id).count()).toBe(1);
  await page.getByText("Some events are missing here").waitFor();
  for (const client of clients) {
    const [gap, ...others] = client.gaps();
    expect(lost).toContain(gap?.from);
    expect(others).toEqual([]);
  }
  const acknowledged = new Set([...namesOf("kept", surviving.length), ...namesOf("new", NEW)]);
  const api = apiOf(node.baseUrl, node.sandboxKey);
  expect(await findViolations({ api, acknowledged, createdByHand: true })).toEqual([]);
});
