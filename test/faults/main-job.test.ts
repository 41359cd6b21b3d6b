import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { spawnListener, startListener } from "../support/listener.ts";
import { type RunningPlatform, startPlatform, startPlatformOn } from "../support/platform.ts";
import { startPlatform as startKitPlatform } from "../testing/kit.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { volume } from "../support/volume.ts";

const EVENTS = volume(2000, 100);
/** Number of events after which a process is killed. */
const KILLS = [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => part * EVENTS);
const AT_ONCE = 16;

let folder: string;
let secret = "";
let receiver: Receiver;
const cleanups: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-faults-"));
  receiver = await startReceiver(() => secret);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Creates customers, and retries each with the same Idempotency-Key until a response arrives. Calls back for each. */
async function createAll(baseUrl: string, key: string, onCreated: (count: number) => void): Promise<Set<string>> {
  const api = apiOf(baseUrl, key);
  const acknowledged = new Set<string>();
  let next = 0;
  const worker = async () => {
    while (next < EVENTS) {
      const email = `customer-${next++}@example.com`;
      for (;;) {
        const response = await api("POST", "/v1/customers", { email }, { "Idempotency-Key": email }).catch(
          () => undefined,
        );
        if (response === undefined || response.status === 503 || response.body.code === "idempotency_in_flight") {
          await new Promise((resolve) => setTimeout(resolve, 20));
          continue;
        }
        expect(response.status, JSON.stringify(response.body)).toBe(201);
        acknowledged.add(response.body.id);
        onCreated(acknowledged.size);
        break;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return acknowledged;
}

const receivedCustomers = () => new Set(receiver.events.map(({ data }) => data.object["id"]));

function expectAllReceived(acknowledged: Set<string>): void {
  expect(acknowledged.size).toBe(EVENTS);
  expect([...acknowledged].filter((id) => !receivedCustomers().has(id))).toEqual([]);
  expect(receiver.rejections).toEqual([]);
}

it("nothing that was acknowledged is lost when the platform is killed five times", async () => {
  const database = join(folder, "platform.db");
  const port = await freePort();
  let platform: RunningPlatform = await startPlatformOn(database, port);
  cleanups.push(() => platform.stop());
  const { baseUrl, sandboxKey, env } = platform;
  const listener = await startListener(env, ["--forward-to", receiver.url]);
  cleanups.push(() => listener.interrupt());
  secret = listener.secret;

  const kills = [...KILLS];
  let restarting = Promise.resolve();
  const acknowledged = await createAll(baseUrl, sandboxKey, (count) => {
    if (count < (kills[0] ?? Infinity)) return;
    kills.shift();
    restarting = restarting.then(async () => {
      await platform.kill();
      platform = await startPlatformOn(database, port);
    });
  });
  await restarting;
  expect(kills).toEqual([]);
  await receiver.until(() => receivedCustomers().size === EVENTS);
  expectAllReceived(acknowledged);
  await listener.record(({ event }) => event === "restored");
});

it("nothing is lost when listen is killed five times and starts again", async () => {
  const platform = await startKitPlatform();
  cleanups.push(() => platform.close());
  const flags = ["--forward-to", receiver.url, "--since", "10m"];
  let listener = await spawnListener(platform.env, flags);
  cleanups.push(() => listener.interrupt());
  secret = listener.secret;

  const kills = [...KILLS];
  let restarting = Promise.resolve();
  const acknowledged = await createAll(platform.baseUrl, platform.apiKey, (count) => {
    if (count < (kills[0] ?? Infinity)) return;
    kills.shift();
    restarting = restarting.then(async () => {
      await listener.kill();
      listener = await spawnListener(platform.env, flags);
    });
  });
  await restarting;
  await receiver.until(() => receivedCustomers().size === EVENTS);
  expectAllReceived(acknowledged);
  expect(listener.secret).toBe(secret);
});

it("the platform finishes requests in flight and exits with 0 on SIGTERM", async () => {
  const platform = await startPlatform();
  const api = apiOf(platform.baseUrl, platform.sandboxKey);
  const responses = Array.from({ length: 50 }, (_, i) =>
    api("POST", "/v1/customers", { email: `stop-${i}@example.com` }),
  );
  const first = await Promise.any(responses);
  expect(first.status).toBe(201);
  const exit = platform.stop();
  const settled = await Promise.allSettled(responses);
  expect(await exit).toBe(0);
  for (const response of settled) if (response.status === "fulfilled") expect(response.value.status).toBe(201);
});
