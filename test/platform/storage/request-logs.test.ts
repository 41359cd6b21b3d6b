import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REQUEST_METHODS } from "../../../src/contract/schemas/request-log.ts";
import { insertAccount } from "../../../src/platform/storage/accounts.ts";
import type { Database } from "../../../src/platform/storage/database.ts";
import type { PageRequest } from "../../../src/platform/storage/page.ts";
import { insertRequestLogs, listRequestLogs, type RequestLogRow } from "../../../src/platform/storage/request-logs.ts";
import { ENGINES, openPlatformDatabase } from "./test-database.ts";

const STATUSES = [101, 200, 201, 400, 404, 429, 500];
const idOf = (number: number) => `req_${String(number).padStart(22, "0")}`;

/** Rows whose method, status, path and key differ in every combination. */
const rowsOf = (environment: number): RequestLogRow[] =>
  Array.from({ length: 2 * 2 * 3 * STATUSES.length * REQUEST_METHODS.length }, (_, number) => ({
    environment,
    id: idOf(number),
    method: REQUEST_METHODS[number % REQUEST_METHODS.length]!,
    status: STATUSES[number % STATUSES.length]!,
    path: number % 2 === 0 ? "/v1/orders" : "/v1/customers",
    key_id: [null, "key_a", "key_b"][number % 3]!,
    duration_us: 1,
    user_id: null,
    idempotency_key: null,
    error_code: null,
    fault: null,
    client: null,
    left_out: 0,
  }));

const METHODS = [undefined, "GET", "POST"] as const;
const PATHS = [undefined, "/v1/orders", "/v1/nothing"];
const STATUS_FILTERS = [undefined, "4xx", "429", "418"];
const KEYS = [undefined, "key_b"];
const PAGES: Omit<PageRequest, "environment">[] = [
  { limit: 5 },
  { limit: 100 },
  { limit: 5, position: idOf(200) },
  { limit: 5, before: idOf(200), from: idOf(150) },
];
const COMBINATIONS = METHODS.flatMap((method) =>
  PATHS.flatMap((path) => STATUS_FILTERS.flatMap((status) => KEYS.map((keyId) => ({ method, path, status, keyId })))),
);

describe.each(ENGINES)("the list of API requests on %s", (engine) => {
  let database: Database;
  let remove: () => Promise<void>;
  let rows: RequestLogRow[];
  let environment: number;
  beforeAll(async () => {
    ({ database, remove } = await openPlatformDatabase(engine));
    const account = { id: "acct_1", name: "A", version: "2026-11-01", created: 1 };
    await database.write(async (tx) => {
      const { sandbox, live } = await insertAccount(tx, account);
      environment = sandbox;
      rows = rowsOf(sandbox);
      await insertRequestLogs(tx, rows);
      await insertRequestLogs(tx, rowsOf(live));
    });
  });
  afterAll(() => remove());

  it.each(PAGES)("has the newest requests for every combination of filters on the page %o", async (page) => {
    for (const filters of COMBINATIONS) {
      const { method, path, status, keyId } = filters;
      const expected = rows
        .filter((row) => method === undefined || row.method === method)
        .filter((row) => path === undefined || row.path === path)
        .filter((row) => status === undefined || new RegExp(status.replace("xx", "..")).test(String(row.status)))
        .filter((row) => keyId === undefined || row.key_id === keyId)
        .filter(({ id }) => id < (page.position ?? page.before ?? "~") && id >= (page.from ?? ""))
        .toReversed()
        .slice(0, page.limit + 1);
      expect(await listRequestLogs(database, { environment, ...page }, filters), JSON.stringify(filters)).toEqual(
        expected,
      );
    }
  });
});
