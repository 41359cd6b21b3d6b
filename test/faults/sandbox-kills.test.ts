import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { apiOf } from "../support/api.ts";
import { startNode } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";
import { volume } from "../support/volume.ts";

/** Distance between the statements before which the process is killed. */
const EVERY = volume(1, 6);
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Tables whose rows belong to the current sandbox: what a kill must leave as it was, or as the whole change makes it. */
const TABLES = ["customers", "orders", "webhook_endpoints", "api_keys", "oauth_apps", "events"];

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-sandbox-kills-"));
  await build({
    entryPoints: [fileURLToPath(new URL("../delivery/children/die-in-write.ts", import.meta.url))],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    external: ["@photostructure/sqlite", "pg"],
    logLevel: "warning",
  });
  symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ENGINES: Record<string, () => Promise<{ url: string; remove: () => Promise<void> }>> = {
  SQLite: async () => ({ url: join(folder, "platform.db"), remove: async () => {} }),
  PostgreSQL: async () => {
    const server = await usePostgres();
    return { url: await server.createDatabase(), remove: () => server.remove() };
  },
};

async function look(url: string) {
  const database = await openDatabase({ database: url, version: "test", log });
  const sandbox = (await database.get<{ id: number; account_id: string }>(
    "SELECT id, account_id FROM environments WHERE name = 'sandbox'",
  ))!;
  const rows = await Promise.all(
    TABLES.map(async (table) => {
      const sql = `SELECT COUNT(*) AS count FROM ${table} WHERE environment = $1`;
      return (await database.get<{ count: number }>(sql, [sandbox.id]))!.count;
    }),
  );
  const snapshots = (await database.all("SELECT id FROM environments WHERE name LIKE 'snapshot %'")).length;
  await database.close();
  return { sandbox, state: { rows, snapshots } };
}

it.each(Object.entries(ENGINES))(
  "a process killed between any two steps leaves the old or the new sandbox on %s",
  async (_name, create) => {
    const { url, remove } = await create();
    const platform = await startNode(url);
    const api = apiOf(platform.baseUrl, platform.sandboxKey);
    await api("POST", "/v1/customers", { email: "ada@example.com" });
    await api("POST", "/v1/oauth_apps", { name: "Reports", redirect_uris: ["https://example.com/callback"] });
    await api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:9/", events: ["*"] });
    await platform.stop();

    let before = await look(url);
    /** Returns the number of statements if the process reached the end. */
    const run = (change: string, step: number): number | undefined => {
      const { id, account_id: account } = before.sandbox;
      const program = join(folder, "die-in-write.mjs");
      const args = [program, url, String(id), String(step), account, change];
      const { signal, status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
      if (signal === null) expect([status, stderr]).toEqual([0, ""]);
      return signal === null ? Number(stdout) : undefined;
    };
    for (const [change, changed] of [
      ["save", { rows: [1, 0, 1, 1, 1, 1], snapshots: 1 }],
      ["restore", { rows: [1, 0, 1, 1, 1, 0], snapshots: 1 }],
      ["reset", { rows: [0, 0, 1, 1, 1, 0], snapshots: 1 }],
    ] as const) {
      let statements: number | undefined;
      for (let step = 0; statements === undefined; step += EVERY) {
        statements = run(change, step);
        const after = await look(url);
        if (statements === undefined) expect(after, `${change}, killed before statement ${step}`).toEqual(before);
        else expect(after.state).toEqual(changed);
        before = after;
      }
      expect(statements).toBeGreaterThanOrEqual(5);
    }
    const again = await startNode(url);
    const { data } = (await apiOf(again.baseUrl, platform.sandboxKey)("GET", "/v1/webhook_endpoints")).body;
    expect(data).toHaveLength(1);
    await again.stop();
    await remove();
  },
);
