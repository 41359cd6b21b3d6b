import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MIGRATIONS } from "../../../src/platform/storage/migrations/index.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { bundlePrograms } from "../storage/child-process.ts";
import { hostPlatform } from "./support/hosted-platform.ts";

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-outbox-"));
  await bundlePrograms([new URL("children/die-in-write.ts", import.meta.url)], folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a process killed between any two steps of a write leaves no change, event or delivery without the others", async () => {
  const platform = await hostPlatform();
  for (const path of ["a", "b"]) {
    await platform.api("POST", "/v1/webhook_endpoints", { url: `http://127.0.0.1:9/${path}`, events: ["*"] });
  }
  const { database: file } = platform;
  await platform.stop();

  const look = async () => {
    const database = await openSqlite({ file, migrations: MIGRATIONS });
    const count = async (table: string) =>
      (await database.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`))!.count;
    const found = [await count("customers"), await count("events"), await count("deliveries")];
    const environment = await database.get<{ id: number }>("SELECT id FROM environments WHERE name = 'sandbox'");
    await database.close();
    return { found, environment: environment!.id };
  };

  const { environment } = await look();
  let steps = Infinity;
  let whole = 0;
  for (let step = 0; step <= steps; step++) {
    const program = join(folder, "die-in-write.mjs");
    const { signal, status, stdout, stderr } = spawnSync(process.execPath, [
      program,
      file,
      String(environment),
      String(step),
      "acct_0000000000000000000000",
    ]);
    expect(stderr.toString()).toBe("");
    if (signal === null) {
      expect(status).toBe(0);
      steps = Number(stdout);
      whole += 1;
    }
    const { found } = await look();
    expect(found, `after a kill before statement ${step}`).toEqual([whole, whole, 2 * whole]);
  }
  expect(whole).toBe(1);
  // At least the customer, the event, the query for endpoints and two deliveries.
  expect(steps).toBeGreaterThanOrEqual(5);
  await platform.close();
});
