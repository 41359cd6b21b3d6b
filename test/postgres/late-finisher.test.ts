import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

/** The retry period of deliveries: all retries fall due during the advance. */
const ALL_RETRIES_SECONDS = 4 * 86_400;

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let receiver: ScriptedReceiver;
/** Pending responses to the attempts, in order of arrival. */
let responses: ServerResponse[];
let late: RunningPlatform;
let other: RunningPlatform;
let api: Api;

beforeAll(async () => {
  server = await usePostgres();
});
afterAll(() => server.remove());

beforeEach(async () => {
  database = await server.createDatabase();
  responses = [];
  receiver = await startScriptedReceiver((_request, response) => void responses.push(response));
  late = await startNode(database);
  await apiOf(late.baseUrl, late.sandboxKey)("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  await apiOf(late.baseUrl, late.sandboxKey)("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await receiver.until(1);
  process.kill(late.pid, "SIGSTOP");
  other = await startNode(database);
  api = apiOf(other.baseUrl, late.sandboxKey);
  // The 15 seconds of the lease are over.
  await server.query("UPDATE deliveries SET lease_until = 1 WHERE lease_until IS NOT NULL", [], database);
  await receiver.until(2);
});
afterEach(async () => {
  process.kill(late.pid, "SIGCONT");
  await Promise.all([late.kill(), other.kill()]);
  await receiver.close();
});

const delivery = async () => {
  const rows = await server.query(
    `SELECT status, attempt_count, first_attempt, next_attempt, lease_until, lease_token,
            (SELECT json_agg(status_code) FROM attempts WHERE delivery_id = deliveries.id) AS status_codes
     FROM deliveries`,
    [],
    database,
  );
  return rows as Record<string, unknown>[];
};
const ended = (node: RunningPlatform) => node.lines.filter((line) => line.includes('"event":"delivery"'));

/** Resumes the process with the expired lease, with a response that would change everything. */
async function finishLate(status = 500): Promise<void> {
  responses[0]!.writeHead(status).end();
  process.kill(late.pid, "SIGCONT");
  await expect.poll(() => ended(late)).toHaveLength(1);
}

async function respond(): Promise<void> {
  responses[1]!.writeHead(200).end();
  await expect.poll(async () => (await delivery())[0]!["status"]).toBe("succeeded");
}

/**
 * Expects that the attempt of the expired lease counts as interrupted, and that neither process attempts anything else.
 */
async function assertOver(): Promise<void> {
  expect(await delivery()).toEqual([
    expect.objectContaining({ status: "succeeded", attempt_count: 2, next_attempt: null, status_codes: [null, 200] }),
  ]);
  const advanced = await advanceClock(api, ALL_RETRIES_SECONDS);
  expect(advanced.body).toMatchObject({ attempts: 0 });
  expect(receiver.received).toHaveLength(2);
}

it("a process with an expired lease changes nothing if another process has finished the attempt", async () => {
  await respond();
  const before = await delivery();
  await finishLate();
  expect(await delivery()).toEqual(before);
  await assertOver();
});

const endpoint = async () => {
  const sql = `SELECT status, disabled_reason, failures, first_failure, last_failure, failing_reported,
                      (SELECT COUNT(*) FROM events WHERE type LIKE 'webhook_endpoint.%') AS events
               FROM webhook_endpoints`;
  return server.query(sql, [], database);
};

it.each([200, 410, 500])(
  "a response of %i that comes after the lease has expired does not change the endpoint",
  async (status) => {
    // One more failed attempt is reported, and one that succeeds ends the count.
    await server.query("UPDATE webhook_endpoints SET failures = 19, first_failure = 1, last_failure = 1", [], database);
    const before = await endpoint();
    await finishLate(status);
    expect(await endpoint()).toEqual(before);
  },
);

it("a process with an expired lease changes nothing while another process makes the attempt", async () => {
  const before = await delivery();
  await finishLate();
  expect(await delivery()).toEqual(before);
  await respond();
  await assertOver();
});
