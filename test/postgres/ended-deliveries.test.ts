import { afterAll, beforeAll, expect, it } from "vitest";
import { lowestIdAt } from "../../src/contract/ids.ts";
import { claimEnded } from "../../src/platform/delivery/claim.ts";
import { recordFinished } from "../../src/platform/delivery/record.ts";
import type { Database } from "../../src/platform/storage/database.ts";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { apiOf } from "../support/api.ts";
import { serveNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const DAY = 86_400_000;
const MAX_RESULTS = 10;

let server: PostgresServer & { remove(): Promise<void> };
let url: string;
let processes: [Database, Database];

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  const node = await serveNode(url);
  const api = apiOf(node.baseUrl, node.sandboxKey);
  const endpoint = await api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:9", events: ["*"] });
  await api("PATCH", `/v1/webhook_endpoints/${endpoint.body.id}`, { status: "disabled" });
  await node.stop();
  await server.query(
    `INSERT INTO deliveries (id, environment, event_id, event_type, endpoint_id, status, attempt_count, next_attempt, created)
     SELECT $1, environment, 'evt_1', 'order.created', id, 'pending', 0, 0, 0 FROM webhook_endpoints`,
    [lowestIdAt("delivery", Date.now() - 4 * DAY)],
    url,
  );
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const open = () => openDatabase({ database: url, version: "test", log });
  processes = [await open(), await open()];
});
afterAll(async () => {
  await Promise.all(processes.map((database) => database.close()));
  await server.remove();
});

it("a delivery that waited too long for a disabled endpoint fails once, even with concurrent checks of several processes", async () => {
  const [{ environment }] = (await server.query("SELECT environment FROM webhook_endpoints", [], url)) as [
    { environment: number },
  ];
  let claimed!: () => void;
  let goOn!: () => void;
  const isClaimed = new Promise<void>((resolve) => (claimed = resolve));
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
  const end = (place: 0 | 1, meanwhile?: () => Promise<void>) =>
    processes[place].write(
      async (tx) => {
        const lease = { token: `process ${place}`, until: Date.now() + 15_000 };
        const finished = await claimEnded(tx, lease, environment, Date.now(), MAX_RESULTS);
        await meanwhile?.();
        await recordFinished(tx, finished);
        return finished.length;
      },
      { isolation: "read committed" },
    );
  const first = end(0, () => {
    claimed();
    return mayGoOn;
  });
  await isClaimed;
  const second = end(1);
  // If it waited for the first transaction instead of skipping its rows, it would fail them again.
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const waits = async () => ((await server.query(waiting, [], url)).length > 0 ? "waits" : "works");
  const state = await Promise.race([
    second.then(() => "done"),
    expect
      .poll(waits)
      .toBe("waits")
      .then(() => "waits"),
  ]);
  goOn();
  expect([await first, await second, state]).toEqual([1, 0, "done"]);
  const rows = await server.query("SELECT status, attempt_count, lease_token FROM deliveries", [], url);
  expect(rows).toEqual([{ status: "failed", attempt_count: 1, lease_token: null }]);
});
