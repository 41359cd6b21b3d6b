import { afterAll, beforeAll, expect, it } from "vitest";
import { figure } from "../platform/delivery/support/figures.ts";
import { listenTo } from "../platform/delivery/support/listen-socket.ts";
import { apiOf } from "../support/api.ts";
import { type RunningListener, startListener } from "../support/listener.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { createConfigDir } from "../support/run-cli.ts";
import { volume } from "../support/volume.ts";
import { type BehindBalancer, startBehindBalancer } from "./behind-balancer.ts";

const NODES = 3;
const EVENTS = volume(450, 150);
/** Not a multiple of 7. */
const OUTCOMES = 120;
const KILLS_AT = [EVENTS / 3, (2 * EVENTS) / 3];
const AT_ONCE = 8;

interface Terminal {
  listener: RunningListener;
  receiver: Receiver;
}

let platform: BehindBalancer;
let terminals: Terminal[];

beforeAll(async () => {
  platform = await startBehindBalancer(NODES);
  terminals = [];
  // One at a time: the balancer sends each to another process.
  for (let i = 0; i < NODES; i++) terminals.push(await openTerminal());
});
afterAll(async () => {
  for (const { listener, receiver } of terminals) {
    await listener.interrupt();
    await receiver.close();
  }
  await platform.close();
});

async function openTerminal(): Promise<Terminal> {
  let secret = "";
  const receiver = await startReceiver(() => secret);
  const env = {
    SERVICE_BASE_URL: platform.url,
    SERVICE_API_KEY: platform.sandboxKey,
    SERVICE_CONFIG_DIR: createConfigDir(),
  };
  // On a busy machine a forward can take more than the default of 10 seconds, and is then made again.
  const flags = ["--events", "customer.created", "--timeout", "2m"];
  const listener = await startListener(env, ["--forward-to", receiver.url, ...flags]);
  secret = listener.secret;
  return { listener, receiver };
}

/** Creates customers through the balancer, retries failed requests, and calls back for each. */
async function createAll(created: (count: number) => void): Promise<Set<string>> {
  const api = apiOf(platform.url, platform.sandboxKey);
  const acknowledged = new Set<string>();
  let next = 0;
  const worker = async () => {
    while (next < EVENTS) {
      const email = `customer-${next++}@example.com`;
      for (;;) {
        // The response is lost if its process is killed.
        const response = await api("POST", "/v1/customers", { email }, { "Idempotency-Key": email }).catch(
          () => undefined,
        );
        if (response?.status === 201) {
          acknowledged.add(response.body.id as string);
          created(acknowledged.size);
          break;
        }
        if (response !== undefined) expect([409, 502, 503], JSON.stringify(response.body)).toContain(response.status);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return acknowledged;
}

/** Returns the number of listeners at each process, from its metrics. */
const listeners = () =>
  platform.nodes.map(({ lines }) => {
    const count = (state: string) => lines.filter((line) => line.includes(`"state":"${state}"`)).length;
    return count("connected") - count("disconnected");
  });

it("all outcomes of one device at three processes are recorded", async () => {
  const api = apiOf(platform.url, platform.sandboxKey);
  const sockets = await Promise.all(
    platform.nodes.map(({ listenUrl }) => listenTo(listenUrl, platform.sandboxKey, "?after=now&window=512")),
  );
  await Promise.all(
    Array.from({ length: OUTCOMES }, (_, amount) => api("POST", "/v1/orders", { amount, currency: "EUR" })),
  );
  for (const socket of sockets) await socket.until(OUTCOMES);
  const [first, second, third] = sockets;
  for (let seq = 1; seq <= OUTCOMES; seq++) {
    first!.ack(seq);
    second!.ack(OUTCOMES + 1 - seq);
    third!.ack(((seq * 7) % OUTCOMES) + 1);
  }
  const recorded = () =>
    platform.server.query<{ deliveries: number; attempts: number }>(
      `SELECT count(*)::int AS deliveries, sum(attempt_count)::int AS attempts FROM deliveries
       JOIN listeners ON listeners.id = listener_id WHERE device = 'unnamed'`,
      [],
      platform.database,
    );
  await expect.poll(recorded).toEqual([{ deliveries: OUTCOMES, attempts: OUTCOMES * NODES }]);
  for (const socket of sockets) await socket.close();
  expect(platform.nodes.flatMap(({ lines }) => lines.filter((line) => line.includes("could not be")))).toEqual([]);
});

it("three listeners at three processes get every event once while two processes are killed", async () => {
  await expect.poll(listeners).toEqual([1, 1, 1]);
  const kills = [...KILLS_AT];
  const killed: Promise<void>[] = [];
  const acknowledged = await createAll((count) => {
    if (count !== kills[0]) return;
    kills.shift();
    killed.push(platform.nodes[killed.length]!.kill());
  });
  await Promise.all(killed);
  await Promise.all(KILLS_AT.map((_, place) => platform.replace(place)));
  expect(killed).toHaveLength(KILLS_AT.length);
  const customers = ({ receiver }: Terminal) => receiver.events.map(({ data }) => data.object["id"]);
  for (const terminal of terminals) {
    await terminal.receiver.until(() => new Set(customers(terminal)).size >= EVENTS);
  }
  const expected = [...acknowledged].toSorted();
  expect(expected).toHaveLength(EVENTS);
  for (const terminal of terminals) {
    expect(terminal.receiver.rejections).toEqual([]);
    expect(customers(terminal).toSorted()).toEqual(expected);
  }
  const awayOf = ({ listener }: Terminal) =>
    listener.records.filter(({ event }) => event === "restored").map((record) => Number(record["downtime_ms"]));
  const interrupted = () => terminals.filter((terminal) => awayOf(terminal).length > 0).length;
  await expect.poll(interrupted).toBe(KILLS_AT.length);
  figure(
    `2 of 3 processes killed under 3 listeners: ${EVENTS} events each, none missed, none twice; ` +
      `away for ${(Math.max(...terminals.flatMap(awayOf)) / 1000).toFixed(2)} s at most`,
  );
});
