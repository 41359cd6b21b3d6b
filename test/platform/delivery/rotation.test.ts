import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { verify } from "../../../src/webhooks/index.ts";
import type { Platform } from "../../../src/testing/index.ts";
import { volume } from "../../support/volume.ts";
import { startPlatform } from "../../testing/kit.ts";
import { figure } from "./support/figures.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const ENDPOINTS = 10;
const EVENTS = volume(1000, 200);
const ROTATIONS = 6;

let folder: string;
let platform: Platform;
let receiver: ScriptedReceiver;
/** The secrets that the receiver accepts for each path: the newest and the previous one. */
const secrets = new Map<string, string[]>();
const rejected: string[] = [];
let verified = 0;
let duplicates = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-rotation-"));
  platform = await startPlatform({ database: join(folder, "platform.db") });
  receiver = await startScriptedReceiver(({ path, body, headers }, response) => {
    const header = String(headers["service-signature"]);
    try {
      verify({ payload: body, header, secrets: secrets.get(path)! });
      verified += 1;
      if ((header.match(/v1=/g) ?? []).length === 2) duplicates += 1;
      response.end();
    } catch (error) {
      rejected.push((error as Error).message);
      response.writeHead(400).end();
    }
  });
});
afterAll(async () => {
  await platform.close();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

it(`${ENDPOINTS * EVENTS} deliveries remain verifiable while secrets are rotated repeatedly`, async () => {
  const ids = new Map<string, string>();
  for (let i = 0; i < ENDPOINTS; i++) {
    const path = `/${i}`;
    const created = await platform.request<{ id: string; secret: string }>("POST", "/v1/webhook_endpoints", {
      url: receiver.url + path,
      events: ["order.completed"],
    });
    ids.set(path, created.id);
    secrets.set(path, [created.secret]);
  }
  const total = ENDPOINTS * EVENTS;
  const events: Promise<{ id: string }>[] = [];
  const createEvents = async () => {
    while (events.length < EVENTS) {
      const data = { id: `ord_${events.length + 1}` };
      events.push(platform.request<{ id: string }>("POST", "/v1/events", { type: "order.completed", data }));
      await events.at(-1);
    }
  };
  const creating = Promise.all(Array.from({ length: 8 }, createEvents));
  let rotations = 0;
  for (let round = 1; round <= ROTATIONS; round++) {
    await receiver.until(Math.floor((total * round) / (ROTATIONS + 1)));
    for (const [path, id] of ids) {
      const rotated = `/v1/webhook_endpoints/${id}/rotate_secret`;
      const { secret } = await platform.request<{ secret: string }>("POST", rotated);
      secrets.set(path, [secret, secrets.get(path)![0]!]);
      rotations += 1;
    }
    // A secret is valid until the second rotation after it: what it may have signed has to arrive before.
    const begun = await Promise.all(events);
    await vi.waitFor(
      () => {
        const arrived = new Map<string, number>();
        for (const { event } of receiver.received) arrived.set(event, (arrived.get(event) ?? 0) + 1);
        expect(begun.filter(({ id }) => (arrived.get(id) ?? 0) < ENDPOINTS)).toEqual([]);
      },
      { timeout: 60_000, interval: 20 },
    );
  }
  await creating;
  await vi.waitFor(() => expect(verified + rejected.length).toBeGreaterThanOrEqual(total), {
    timeout: 60_000,
    interval: 20,
  });
  figure(`${verified} of ${total} deliveries verified over ${rotations} rotations, ${duplicates} of them signed twice`);
  expect(rejected).toEqual([]);
  expect(verified).toBe(total);
  expect(duplicates).toBeGreaterThan(0);
});
