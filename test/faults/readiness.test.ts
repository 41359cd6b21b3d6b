import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadSqlite } from "../../src/platform/storage/sqlite-runtime.ts";
import { apiOf } from "../support/api.ts";
import { type RunningPlatform, startPlatformOn } from "../support/platform.ts";

/** Each test works on a copy of a database that was served and stopped. */
const original = mkdtempSync(join(tmpdir(), "service-readiness-"));
const PAGE = 4096;
/** An operator should know this soon. */
const SOON = { timeout: 10_000, interval: 50 };
let key: string;
let file: string;
let platform: RunningPlatform;

beforeAll(async () => {
  const first = await startPlatformOn(join(original, "platform.db"), 0);
  key = first.sandboxKey;
  expect((await apiOf(first.baseUrl, key)("POST", "/v1/customers", { email: "a@example.com" })).status).toBe(201);
  expect(await first.stop()).toBe(0);
});
afterAll(() => rmSync(original, { recursive: true, force: true }));

beforeEach(async () => {
  file = join(mkdtempSync(join(original, "test-")), "platform.db");
  for (const suffix of ["", ".key"]) copyFileSync(join(original, `platform.db${suffix}`), file + suffix);
  platform = await startPlatformOn(file, 0);
});
afterEach(() => platform.stop());

const probe = async (path: string) => (await fetch(platform.baseUrl + path)).status;
const logged = () => platform.lines.filter((line) => line.includes(`"database":"${file}"`)).join("\n");

async function writeAndKill(): Promise<void> {
  const created = await apiOf(platform.baseUrl, key)("POST", "/v1/customers", { email: "b@example.com" });
  expect(created.status).toBe(201);
  await platform.kill();
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
}

/** Overwrites the first page of a table that nothing reads at a start. */
async function damageTable(): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const source = new DatabaseSync(join(original, "platform.db"), { readOnly: true });
  const row = source.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'oauth_codes'").get();
  source.close();
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(PAGE, 0xa5), 0, PAGE, (Number(row?.["rootpage"]) - 1) * PAGE);
  closeSync(descriptor);
}

describe("/readyz", () => {
  it("turns 503 when the database file is truncated, and the log names the file", async () => {
    expect([await probe("/readyz"), await probe("/healthz")]).toEqual([200, 200]);
    truncateSync(file, PAGE);
    await expect.poll(() => probe("/readyz"), SOON).toBe(503);
    await expect.poll(logged, SOON).toContain("the database cannot be used");
    expect(await probe("/healthz")).toBe(200);
  });

  it("turns 503 when a page in the middle of the file is overwritten, and the log names the file", async () => {
    await damageTable();
    await expect.poll(() => probe("/readyz"), SOON).toBe(503);
    expect(logged()).toContain("the database is damaged");
  });

  it("turns 503 when a start after a kill finds the file damaged, and the log names it", async () => {
    await writeAndKill();
    await damageTable();
    platform = await startPlatformOn(file, 0);
    await expect.poll(() => probe("/readyz"), SOON).toBe(503);
    expect(logged()).toContain("the database is damaged");
  });

  it("stays 200 after a kill that damaged nothing, and the log says that the file was checked", async () => {
    await writeAndKill();
    platform = await startPlatformOn(file, 0);
    await expect.poll(logged, SOON).toContain("the database was checked and is intact");
    expect(await probe("/readyz")).toBe(200);
  });
});
