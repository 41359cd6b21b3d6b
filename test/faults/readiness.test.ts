import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadSqlite } from "../../src/platform/storage/sqlite/runtime.ts";
import { apiOf } from "../support/api.ts";
import { type RunningPlatform, startPlatformOn } from "../support/platform.ts";

/** Each test works on a copy of the database of a stopped platform. */
const original = mkdtempSync(join(tmpdir(), "service-readiness-"));
const PAGE = 4096;
/** The interval of the platform's checks for damage, in milliseconds. */
const SOON = { interval: 50 };
let key: string;
let file: string;
let platform: RunningPlatform;

beforeAll(async () => {
  const first = await startPlatformOn(join(original, "platform.db"), 0);
  key = first.sandboxKey;
  expect((await apiOf(first.baseUrl, key)("POST", "/v1/customers", { email: "a@example.com" })).status).toBe(201);
  expect(await first.stop()).toBe(0);
  const { DatabaseSync } = await loadSqlite();
  copyFileSync(join(original, "platform.db"), join(original, "other.db"));
  const other = new DatabaseSync(join(original, "other.db"));
  other.exec("PRAGMA user_version = 1; VACUUM");
  other.close();
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

const createCustomer = async (name: string) =>
  (await apiOf(platform.baseUrl, key)("POST", "/v1/customers", { email: `${name}@example.com` })).status;

/** Creates another platform database in the same folder. */
function other(): string {
  copyFileSync(join(original, "other.db"), `${file}.other`);
  return `${file}.other`;
}

function overwrite(path: string, at: number, length: number): void {
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, Buffer.alloc(length, 0xa5), 0, length, at);
  closeSync(descriptor);
}

/** Overwrites the first page of a table that no start reads. */
async function damageTable(): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const source = new DatabaseSync(join(original, "platform.db"), { readOnly: true });
  const row = source.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'oauth_codes'").get();
  source.close();
  overwrite(file, (Number(row?.["rootpage"]) - 1) * PAGE, PAGE);
}

describe("/readyz", () => {
  it("returns 503 when the database file is truncated, and the log contains the file name", async () => {
    expect([await probe("/readyz"), await probe("/healthz")]).toEqual([200, 200]);
    truncateSync(file, PAGE);
    await expect.poll(() => probe("/readyz"), SOON).toBe(503);
    await expect.poll(logged, SOON).toContain("the database cannot be used");
    expect(await probe("/healthz")).toBe(200);
  });

  it.each<[string, string, () => void]>([
    ["the file is emptied", "", () => truncateSync(file, 0)],
    ["the file is deleted", "", () => rmSync(file)],
    ["the file is renamed", "", () => renameSync(file, `${file}.away`)],
    ["the file's beginning is overwritten", "", () => overwrite(file, 0, PAGE)],
    ["the file is overwritten by another database", "", () => copyFileSync(other(), file)],
    ["another database takes the file's place", "", () => renameSync(other(), file)],
    ["the log is deleted", "-wal", () => rmSync(`${file}-wal`)],
    ["the log is emptied", "-wal", () => truncateSync(`${file}-wal`, 0)],
    ["the log is overwritten", "-wal", () => overwrite(`${file}-wal`, 0, statSync(`${file}-wal`).size)],
    ["the shared memory is deleted", "-shm", () => rmSync(`${file}-shm`)],
    ["the folder is deleted", "", () => rmSync(dirname(file), { recursive: true })],
    ["the folder is renamed", "", () => renameSync(dirname(file), `${dirname(file)}-away`)],
  ])("returns 503 when %s, writes fail too, and the log contains the file name", async (_what, suffix, damage) => {
    expect(await createCustomer("before")).toBe(201);
    damage();
    await expect.poll(() => probe("/readyz"), SOON).toBe(503);
    // Reads may fail before the files are inspected; once they are, no write succeeds.
    await expect.poll(logged, SOON).toContain("the database cannot be used");
    expect(await createCustomer("after")).toBe(503);
    await expect.poll(() => platform.lines.join("\n"), SOON).toContain(file + suffix);
    expect(await probe("/healthz")).toBe(200);
  });

  it.each<[string, () => void]>([
    ["the file is closed to all", () => chmodSync(file, 0)],
    ["the shared memory is overwritten", () => overwrite(`${file}-shm`, 0, statSync(`${file}-shm`).size)],
    ["the lock file is deleted", () => rmSync(`${file}.lock`)],
  ])("stays 200 when %s, because nothing is lost", async (_what, harm) => {
    expect(await createCustomer("before")).toBe(201);
    harm();
    expect(await probe("/readyz")).toBe(200);
    expect(await createCustomer("after")).toBe(201);
    await platform.kill();
    platform = await startPlatformOn(file, 0);
    const { body } = await apiOf(platform.baseUrl, key)("GET", "/v1/customers");
    const emails = body.data.map(({ email }: { email: string }) => email);
    expect(emails).toEqual(["after@example.com", "before@example.com", "a@example.com"]);
  });

  it("fails with the process when the shared memory is truncated, and the next start has everything", async () => {
    expect(await createCustomer("before")).toBe(201);
    truncateSync(`${file}-shm`, 0);
    // Reading mapped memory beyond the end of the file is SIGBUS, which kills the process.
    await expect(createCustomer("lost")).rejects.toThrow();
    await platform.kill();
    platform = await startPlatformOn(file, 0);
    const { body } = await apiOf(platform.baseUrl, key)("GET", "/v1/customers");
    expect(body.data.map(({ email }: { email: string }) => email)).toContain("before@example.com");
  });

  it("returns 503 when a page in the middle of the file is overwritten, and the log contains the file name", async () => {
    await damageTable();
    await expect.poll(() => probe("/readyz"), SOON).toBe(503);
    await expect.poll(logged, SOON).toContain("the database is damaged");
  });

  it("returns 503 when a start after a kill finds the file damaged, and the log contains the file name", async () => {
    await writeAndKill();
    await damageTable();
    platform = await startPlatformOn(file, 0);
    await expect.poll(() => probe("/readyz"), SOON).toBe(503);
    await expect.poll(logged, SOON).toContain("the database is damaged");
  });

  it("stays 200 after a kill without damage, and logs that the file was checked", async () => {
    await writeAndKill();
    platform = await startPlatformOn(file, 0);
    await expect.poll(logged, SOON).toContain("the database was checked and is intact");
    expect(await probe("/readyz")).toBe(200);
  });
});
