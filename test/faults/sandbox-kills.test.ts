import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRetention } from "../../src/platform/maintenance/retention.ts";
import { BackgroundWork } from "../../src/platform/observability/background-work.ts";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { ClockTrust } from "../../src/platform/time/clock-trust.ts";
import { createMinuteClock } from "../platform/delivery/support/minute-clock.ts";
import { bundlePrograms } from "../platform/storage/child-process.ts";
import { apiOf } from "../support/api.ts";
import { startNode } from "../support/platform.ts";
import { usePostgres } from "../support/postgres.ts";
import { volume } from "../support/volume.ts";

/** Distance between the statements before which the process is killed. */
const EVERY = volume(1, 6);
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** What a kill must leave as it was, or as the whole change makes it. */
interface State {
  sandbox: { id: number; account_id: string };
  state: { rows: number[]; snapshots: number };
}

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-sandbox-kills-"));
  await bundlePrograms([new URL("../platform/delivery/children/die-in-write.ts", import.meta.url)], folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ENGINES: Record<string, () => Promise<{ url: string; remove: () => Promise<void> }>> = {
  SQLite: async () => ({ url: join(folder, "platform.db"), remove: async () => {} }),
  PostgreSQL: async () => {
    const server = await usePostgres();
    return { url: await server.createDatabase(), remove: () => server.remove() };
  },
};

/** Runs the program. Returns what it printed; undefined if it was killed. */
function run(...args: string[]): unknown {
  const program = join(folder, "die-in-write.mjs");
  const { signal, status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  if (signal !== null) return undefined;
  expect([status, stderr], args.join(" ")).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** In a process of its own: while this one has the file open, SQLite would not treat the next as the first after a kill. */
const look = (url: string) => run(url, "0", "0", "", "look") as State;

/** Runs retention ten minutes later. Returns the numbers of the environments that are left. */
async function removeLeftovers(url: string): Promise<number[]> {
  const database = await openDatabase({ database: url, version: "test", log });
  const clock = createMinuteClock();
  const background = new BackgroundWork({ clock, log }, () => {});
  const retention = createRetention({
    database,
    clock,
    clockTrust: new ClockTrust(clock, log, undefined),
    log,
    background,
  });
  const names = async () =>
    (await database.all<{ name: string }>("SELECT name FROM environments ORDER BY id")).map(({ name }) => name);
  expect(await names()).toContainEqual(expect.stringMatching(/^unfinished /));
  retention.start();
  // The first run finds what was abandoned, and a later one removes its number.
  await expect
    .poll(async () => {
      clock.pass(600_000);
      clock.passMinute();
      return (await names()).toSorted();
    })
    .toEqual(["live", "sandbox", "snapshot base"]);
  await retention.stop();
  const rows = await database.all<{ environment: number }>("SELECT DISTINCT environment FROM customers");
  await database.close();
  return rows.map(({ environment }) => environment);
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

    let before = look(url);
    for (const [change, changed] of [
      ["save", { rows: [1, 0, 1, 1, 1, 1], snapshots: 1 }],
      ["restore", { rows: [1, 0, 1, 1, 1, 0], snapshots: 1 }],
      ["reset", { rows: [0, 0, 1, 1, 1, 0], snapshots: 1 }],
    ] as const) {
      let statements: number | undefined;
      for (let step = 0; statements === undefined; step += EVERY) {
        const { id, account_id: account } = before.sandbox;
        // The number of statements, if the process reached the end.
        statements = run(url, String(id), String(step), account, change) as number | undefined;
        const after = look(url);
        if (statements === undefined) expect(after, `${change}, killed before statement ${step}`).toEqual(before);
        else expect(after.state).toEqual(changed);
        before = after;
      }
      expect(statements).toBeGreaterThanOrEqual(5);
    }
    const { sandbox } = before;
    const environments = await removeLeftovers(url);
    expect(environments).toHaveLength(1);
    expect(environments).not.toContain(sandbox.id);
    const again = await startNode(url);
    const { data } = (await apiOf(again.baseUrl, platform.sandboxKey)("GET", "/v1/webhook_endpoints")).body;
    expect(data).toHaveLength(1);
    await again.stop();
    await remove();
  },
);
