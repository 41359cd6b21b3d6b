import { afterAll, beforeAll, expect, it } from "vitest";
import { insertAccount } from "../../src/platform/storage/accounts.ts";
import type { Database, Queries } from "../../src/platform/storage/database.ts";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { insertRequestLogs, listRequestLogs, type RequestLogFilters } from "../../src/platform/storage/request-logs.ts";
import { usePostgres } from "../support/postgres.ts";

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const METHODS = ["GET", "POST", "PATCH", "DELETE"] as const;
const STATUSES = [200, 201, 404, 400, 503];

let server: Awaited<ReturnType<typeof usePostgres>>;
let database: Database;
let environment: number;

const requests = Array.from({ length: 600 }, (_, number) => ({
  id: `req_${1000 + number}`,
  method: METHODS[number % 4]!,
  path: `/v1/customers/${number % 7}`,
  status: STATUSES[number % 5]!,
  duration_us: 1,
  key_id: `key_${number % 3}`,
  user_id: null,
  idempotency_key: null,
  error_code: null,
}));

beforeAll(async () => {
  server = await usePostgres();
  database = await openDatabase({ database: await server.createDatabase(), version: "test", log: LOG });
  const account = { id: "acct_1", name: "A", version: "2026-11-01", created: 1 };
  ({ sandbox: environment } = await database.write((tx) => insertAccount(tx, account)));
  await database.write((tx) =>
    insertRequestLogs(
      tx,
      requests.map((request) => ({ environment, ...request })),
    ),
  );
});
afterAll(async () => {
  await database.close();
  await server.remove();
});

/** Passes reads on, and collects the lines of their plans. */
function explained(lines: string[]): Queries {
  return {
    dialect: "postgres",
    get: (sql, parameters) => database.get(sql, parameters),
    allShared: (sql, parameters) => database.allShared(sql, parameters),
    all: async (sql, parameters) => {
      const plan = await database.all<Record<string, string>>(`EXPLAIN ${sql}`, parameters);
      lines.push(...plan.map((row) => Object.values(row)[0]!));
      return database.all(sql, parameters);
    },
  };
}

const none: RequestLogFilters = { method: undefined, path: undefined, status: undefined, keyId: undefined };

it.each<[Partial<RequestLogFilters>, index: string]>([
  [{ method: "GET" }, "request_logs_by_status"],
  [{ status: "4xx" }, "request_logs_by_status"],
  [{ path: "/v1/customers/3" }, "request_logs_by_path"],
  [{ keyId: "key_1" }, "request_logs_by_key"],
  [{ keyId: "key_1", path: "/v1/customers/3", method: "POST" }, "request_logs_by_path"],
])(
  "a list of the requests with %j is planned as one part, and reads one index in the order of the list",
  async (filters, index) => {
    const lines: string[] = [];
    const matching = requests.filter(
      ({ method, status, path, key_id: key }) =>
        (filters.method ?? method) === method &&
        (filters.path ?? path) === path &&
        (filters.keyId ?? key) === key &&
        (filters.status === undefined || Math.floor(status / 100) === 4),
    );
    const newest = matching.map(({ id }) => id).toReversed();
    const page = { environment, limit: 5 };
    const first = await listRequestLogs(explained(lines), page, { ...none, ...filters });
    expect(first.map(({ id }) => id)).toEqual(newest.slice(0, 6));
    const second = await listRequestLogs(database, { ...page, position: newest[4] }, { ...none, ...filters });
    expect(second.map(({ id }) => id)).toEqual(newest.slice(5, 11));
    const scans = lines.filter((line) => / on request_logs\b/.test(line));
    expect(scans).toEqual([expect.stringContaining(`Index Scan Backward using ${index} `)]);
  },
);
