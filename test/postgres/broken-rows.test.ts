import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { lowestIdAt } from "../../src/contract/ids.ts";
import { type HostedPlatform, hostPlatform } from "../platform/delivery/support/hosted-platform.ts";
import { createMinuteClock, type MinuteClock } from "../platform/delivery/support/minute-clock.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const OLD = Date.now() - 31 * 86_400_000;
const partner = generateKeyPairSync("ec", { namedCurve: "P-256" });

let server: PostgresServer & { remove(): Promise<void> };
let url: string;
let folder: string;
let clock: MinuteClock;
let platform: HostedPlatform;
let receiver: ScriptedReceiver;
const logged: { task?: string; err?: { message: string } }[] = [];

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  folder = mkdtempSync(join(tmpdir(), "service-broken-"));
  const leakKeys = join(folder, "keys.json");
  const key = partner.publicKey.export({ type: "spki", format: "pem" });
  writeFileSync(leakKeys, JSON.stringify({ public_keys: [{ key_identifier: "first", key }] }));
  clock = createMinuteClock();
  const complain = (fields: object) => void logged.push(fields);
  const log = { debug: () => {}, info: () => {}, warn: complain, error: complain };
  receiver = await startScriptedReceiver(({ path }, response) =>
    response.writeHead(path.startsWith("/failing") ? 500 : 200).end(),
  );
  platform = await hostPlatform({ database: url, masterKey: "5a".repeat(32), clock, log, leakKeys });
  await sql(
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the row is broken'; END $$`,
  );
});
afterAll(async () => {
  await platform.close();
  await receiver.close();
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Row {
  id: string;
  environment: number;
}

const sql = (text: string, values: unknown[] = []) => server.query<Row>(text, values, url);

/** Makes the database reject changes of some rows until the test has finished. */
async function reject(change: string, table: string, rows: string): Promise<void> {
  await sql(`CREATE TRIGGER broken BEFORE ${change} ON ${table} FOR EACH ROW WHEN (${rows}) EXECUTE FUNCTION fail()`);
  onTestFinished(async () => void (await sql(`DROP TRIGGER broken ON ${table}`)));
}

/** Adds an endpoint for the time of the test. */
async function addEndpoint(path: string): Promise<string> {
  const { status, body } = await platform.api("POST", "/v1/webhook_endpoints", {
    url: receiver.url + path,
    events: ["order.*"],
  });
  expect(status).toBe(201);
  onTestFinished(async () => void (await platform.api("DELETE", `/v1/webhook_endpoints/${body.id}`)));
  return body.id;
}

const createOrder = async (api: Api = platform.api): Promise<string> => {
  const { status, body } = await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  expect(status).toBe(201);
  return body.id;
};
const eventOf = async (order: string) => (await platform.api("GET", `/v1/events?related=${order}`)).body.data[0].id;
const lastOf = async (endpoint: string) => {
  const { data } = (await platform.api("GET", `/v1/deliveries?endpoint=${endpoint}&limit=1`)).body;
  const { status, last_error: error } = data[0];
  return { status, error };
};
const failures = async (task: string) => {
  const text = await (await fetch(`${platform.baseUrl}/metrics`)).text();
  return Number(new RegExp(`service_background_failures_total\\{task="${task}"\\} (\\d+)`).exec(text)?.[1]);
};
const timesLogged = (task: string, message: string) =>
  logged.filter((entry) => entry.task === task && entry.err?.message.includes(message)).length;
const endOf = async (id: string, api: Api = platform.api) => {
  const operation = async () => (await api("GET", `/v1/bulk_operations/${id}`)).body;
  await expect.poll(async () => (await operation()).status).toBe("succeeded");
  return operation();
};

describe("an endpoint whose signing secret cannot be decrypted", () => {
  it("fails its own deliveries until the secret is rotated, and no others", async () => {
    const [damaged, intact] = [await addEndpoint("/damaged"), await addEndpoint("/intact")];
    await sql("UPDATE webhook_endpoints SET secret = set_byte(secret, 30, 255 - get_byte(secret, 30)) WHERE id = $1", [
      damaged,
    ]);
    for (let count = 0; count < 3; count++) await createOrder();
    await receiver.until(3, "/intact");
    await expect
      .poll(() => lastOf(damaged))
      .toEqual({ status: "failed", error: expect.stringMatching(/^secret_damaged: /) });
    await expect.poll(() => lastOf(intact)).toEqual({ status: "succeeded", error: null });
    await expect.poll(() => failures("delivery")).toBeGreaterThan(0);
    expect(timesLogged("delivery", damaged)).toBe(1);
    await platform.api("POST", `/v1/webhook_endpoints/${damaged}/rotate_secret`, {});
    await createOrder();
    await receiver.until(1, "/damaged");
  });

  it("does not prevent an advance of the test clock from completing", async () => {
    await addEndpoint("/failing");
    const damaged = await addEndpoint("/damaged");
    await createOrder();
    await sql("UPDATE webhook_endpoints SET secret = '\\x00' WHERE id = $1", [damaged]);
    await createOrder();
    const advance = await advanceClock(platform.api, 3600);
    expect(advance).toMatchObject({ status: 200, body: { status: "idle", remaining: 0 } });
  });
});

it("an endpoint whose URL is damaged fails its own deliveries only", async () => {
  const [damaged, intact] = [await addEndpoint("/damaged"), await addEndpoint("/beside-url")];
  await sql("UPDATE webhook_endpoints SET url = 'no URL' WHERE id = $1", [damaged]);
  await createOrder();
  await receiver.until(1, "/beside-url");
  await expect
    .poll(() => lastOf(damaged))
    .toEqual({ status: "failed", error: expect.stringMatching(/^url_damaged: /) });
  await expect.poll(async () => (await lastOf(intact)).status).toBe("succeeded");
});

it("deliveries that the database rejects do not stop those of other endpoints", async () => {
  const [broken] = [await addEndpoint("/broken"), await addEndpoint("/beside-broken")];
  await reject("UPDATE", "deliveries", `OLD.endpoint_id = '${broken}'`);
  const before = await failures("delivery");
  for (let count = 0; count < 3; count++) await createOrder();
  await receiver.until(3, "/beside-broken");
  await expect.poll(() => failures("delivery")).toBeGreaterThan(before);
  expect(timesLogged("delivery", "the row is broken")).toBe(1);
});

it("an endpoint whose health cannot be reported does not stop attempts from being recorded", async () => {
  const failing = await addEndpoint("/failing");
  await reject("UPDATE OF failing_reported", "webhook_endpoints", `OLD.id = '${failing}'`);
  const before = await failures("delivery");
  await Promise.all(Array.from({ length: 25 }, () => createOrder()));
  const attempted = async () => {
    const { data } = (await platform.api("GET", `/v1/deliveries?endpoint=${failing}&limit=100`)).body;
    return data.filter((one: { attempt_count: number }) => one.attempt_count === 1).length;
  };
  await expect.poll(attempted).toBe(25);
  await expect.poll(() => failures("delivery")).toBeGreaterThan(before);
});

describe("a bulk operation", () => {
  it("counts a damaged event as failed, and replays and retries the others", async () => {
    const endpoint = await addEndpoint("/bulk");
    const orders = [await createOrder(), await createOrder(), await createOrder()];
    await receiver.until(3, "/bulk");
    await expect.poll(async () => (await lastOf(endpoint)).status).toBe("succeeded");
    const event = await eventOf(orders[1]!);
    await sql("UPDATE events SET body = replace(body, 'EUR', 'EUX') WHERE id = $1", [event]);
    const { body: replay } = await platform.api("POST", "/v1/events/replay", { endpoint, status: "succeeded" });
    expect(await endOf(replay.id)).toMatchObject({
      done: 2,
      failed: 1,
      last_error: expect.stringContaining(`${event} is damaged`),
    });
    await receiver.until(5, "/bulk");
    await expect.poll(async () => (await lastOf(endpoint)).status).toBe("succeeded");
    await sql("UPDATE deliveries SET status = 'failed' WHERE endpoint_id = $1", [endpoint]);
    const { body: retry } = await platform.api("POST", "/v1/deliveries/retry", { endpoint });
    expect(await endOf(retry.id)).toMatchObject({
      done: 4,
      failed: 1,
      last_error: expect.stringContaining("is damaged"),
    });
  });

  it("skips an event that the database rejects, and does not stop operations of other environments", async () => {
    const endpoint = await addEndpoint("/rejected");
    const [first] = [await createOrder(), await createOrder()];
    await receiver.until(2, "/rejected");
    await createOrder(platform.live);
    const event = await eventOf(first);
    await reject("INSERT", "replays", `NEW.event_id = '${event}'`);
    await expect.poll(async () => (await lastOf(endpoint)).status).toBe("succeeded");
    const { body } = await platform.api("POST", "/v1/events/replay", { endpoint, status: "succeeded" });
    const { body: live } = await platform.live("POST", "/v1/events/replay", { type: "order.*" });
    expect(await endOf(live.id, platform.live)).toMatchObject({ done: 1, failed: 0 });
    expect(await endOf(body.id)).toMatchObject({ done: 1, failed: 1, last_error: expect.stringContaining(event) });
    await expect.poll(() => failures("bulk_operation")).toBeGreaterThan(0);
  });

  it("does not stop operations of other environments if it fails", async () => {
    await createOrder();
    await createOrder(platform.live);
    const [own] = await sql("SELECT environment FROM api_keys WHERE prefix LIKE 'sk_sandbox_%' LIMIT 1");
    await reject("UPDATE", "bulk_operations", `OLD.environment = ${own!.environment}`);
    expect((await platform.api("POST", "/v1/events/replay", { type: "order.*" })).status).toBe(201);
    const { body: live } = await platform.live("POST", "/v1/events/replay", { type: "order.*" });
    expect(await endOf(live.id, platform.live)).toMatchObject({ failed: 0 });
  });
});

it("retention removes the old events of all environments except the one for which it fails", async () => {
  const [sandbox, live] = [await createOrder(), await createOrder(platform.live)];
  const rows = await sql("SELECT id, environment, object_id FROM events WHERE object_id IN ($1, $2)", [sandbox, live]);
  const environments = [...rows].sort((a, b) => a.environment - b.environment);
  for (const [index, { id }] of environments.entries()) {
    const old = lowestIdAt("event", OLD + index);
    await sql("UPDATE events SET id = $2 WHERE id = $1", [id, old]);
    await sql("UPDATE deliveries SET event_id = $2, status = 'canceled', next_attempt = NULL WHERE event_id = $1", [
      id,
      old,
    ]);
  }
  const [first, last] = environments.map(({ environment }) => environment);
  await reject("DELETE", "events", `OLD.environment = ${first}`);
  const left = async () => {
    clock.passMinute();
    const found = await sql("SELECT environment FROM events WHERE id < $1", [lowestIdAt("event", OLD + 10)]);
    return found.map(({ environment }) => environment);
  };
  await expect.poll(left).toEqual([first]);
  expect(last).not.toBe(first);
  await expect.poll(() => failures("retention")).toBeGreaterThan(0);
});

it("retention removes other unfinished snapshots if one cannot be removed", async () => {
  const [broken, other] = [1001, 1002];
  await sql(
    `INSERT INTO environments (id, account_id, name, since)
     SELECT number, account_id, 'unfinished ' || number, 0
     FROM environments, (VALUES ($1::int), ($2)) AS numbers (number) WHERE name = 'live'`,
    [broken, other],
  );
  await reject("UPDATE", "environments", `OLD.id = ${broken}`);
  const before = await failures("retention");
  // A minute begins no run while one is in progress.
  const left = async () => {
    clock.passMinute();
    return await sql("SELECT id FROM environments WHERE name LIKE 'unfinished %'");
  };
  await expect.poll(left).toEqual([{ id: broken }]);
  await expect.poll(() => failures("retention")).toBeGreaterThan(before);
});

it("a leaked key that cannot be revoked is an error, and the other reported keys are revoked", async () => {
  const newKey = async () => (await platform.api("POST", "/v1/api_keys", {})).body as { id: string; key: string };
  const keys = [await newKey(), await newKey(), await newKey()];
  await reject("UPDATE", "api_keys", `OLD.id = '${keys[1]!.id}'`);
  const body = JSON.stringify(keys.map(({ key }) => ({ token: key, type: "key", url: "https://code.example/" })));
  const response = await apiOf(platform.baseUrl, undefined)("POST", "/v1/leaked_keys/report", body, {
    "Github-Public-Key-Identifier": "first",
    "Github-Public-Key-Signature": sign("sha256", Buffer.from(body), partner.privateKey).toString("base64"),
  });
  expect(response.status).toBe(500);
  const statuses = keys.map(async ({ key }) => (await apiOf(platform.baseUrl, key)("GET", "/v1/orders")).status);
  expect(await Promise.all(statuses)).toEqual([401, 200, 401]);
  expect(await failures("leak_report")).toBe(1);
});
