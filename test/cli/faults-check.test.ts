import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "faults-check-"));

/** A client that creates orders. `send` sends one request, `attempts` times at most. */
const clientOf = (send: string) => `
  const { SERVICE_BASE_URL: base, SERVICE_API_KEY: key } = process.env;
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const once = async (method, path, body, headers) => {
    const all = { Authorization: "Bearer " + key, "Content-Type": "application/json", ...headers };
    const response = await fetch(base + path, { method, headers: all, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, after: Number(response.headers.get("retry-after")), json: await response.json() };
  };
  async function send(method, path, body) { ${send} }
  for (let amount = 1; amount <= 8; amount++) {
    const order = await send("POST", "/v1/orders", { amount, currency: "EUR" });
    await send("GET", "/v1/orders/" + order.id);
  }
  await send("POST", "/v1/orders", { amount: -1, currency: "EUR" });
`;

const GOOD = clientOf(`
  const headers = method === "POST" ? { "Idempotency-Key": crypto.randomUUID() } : {};
  for (let attempt = 1; ; attempt++) {
    const { status, after, json } = await once(method, path, body, headers).catch(() => ({ status: 503, after: 0 }));
    if (status < 429 || attempt === 9) return json;
    await wait(after * 1000 + 20);
  }`);
const SINGLE = GOOD.replace(
  /for \(let amount = 1[^]*$/,
  `await send("POST", "/v1/orders", { amount: 1, currency: "EUR" });`,
);
/** Three callers at once, who send the same: only their keys tell the requests apart. */
const PARALLEL = GOOD.replace(
  /for \(let amount = 1[^]*$/,
  (work) =>
    `await Promise.all([1, 2, 3].map(async () => { ${work.replace("{ amount,", "{ amount: 5,").replace('"/v1/orders/" + order.id', '"/v1/orders"')} }));`,
);
const EAGER = clientOf(`
  for (let attempt = 1; ; attempt++) {
    const { status, json } = await once(method, path, body).catch(() => ({ status: 503 }));
    if (status < 300 || attempt === 9) return json;
  }`);
const GIVES_UP = clientOf(`
  const { status, json } = await once(method, path, body, { "Idempotency-Key": crypto.randomUUID() });
  if (status >= 429) throw new Error("status " + status);
  return json;`);

interface Report {
  object: string;
  seed: number;
  runs: number;
  requests: number;
  faults: number;
  passed: boolean;
  grade: string;
  counts: Record<string, number>;
  checks: { id: string; status: string; seen: string; fix: string | null }[];
}

const commandOf = (name: string) => [process.execPath, join(folder, `${name}.mjs`)];
const check = (name: string, ...flags: string[]) => runCli(["faults", "check", ...flags, "--", ...commandOf(name)]);
const statuses = ({ checks }: Report) => Object.fromEntries(checks.map(({ id, status }) => [id, status]));

beforeAll(() => {
  for (const [name, text] of Object.entries({
    good: GOOD,
    single: SINGLE,
    parallel: PARALLEL,
    eager: EAGER,
    "gives-up": GIVES_UP,
    idle: "",
    keyless: `await fetch(process.env.SERVICE_BASE_URL + "/v1/orders");`,
    broken: `const { SERVICE_BASE_URL: base, SERVICE_API_KEY: key } = process.env;
      for (const path of ["/v1/orders", "/v1/orders"]) {
        await fetch(base + path, { method: "POST", headers: { Authorization: "Bearer " + key }, body: "a=1" }).catch(() => {});
      }
      process.exit(9);`,
  })) {
    writeFileSync(join(folder, `${name}.mjs`), text);
  }
});

describe("service faults check", () => {
  it.each(["1", "7"])("tests each rule with a client of one request, from seed %s", async (seed) => {
    const { stdout } = await check("single", "--seed", seed, "--json");
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({ grade: "A", counts: { passed: 6, failed: 0, skipped: 0, not_applicable: 1 } });
    expect(statuses(report)["no-retry-of-400"]).toBe("not_applicable");
  });

  it("gives no A for checks that did not run", async () => {
    const { stdout } = await check("single", "--seed", "3", "--runs", "1", "--json");
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({ grade: "B", passed: true, counts: { failed: 0 } });
    expect(report.checks.find(({ status }) => status === "skipped")!.seen).toMatch(/pass --runs 10$/);
  });

  it("passes a client that retries correctly, without a sign-in, and repeats the faults of a seed", async () => {
    const { exitCode, stdout } = await check("good", "--seed", "7", "--runs", "2", "--json");
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({ object: "client_check", seed: 7, runs: 2, passed: true, grade: "A" });
    expect(new Set(Object.values(statuses(report)))).toEqual(new Set(["passed"]));
    expect(report.faults).toBeGreaterThan(10);
    expect(exitCode).toBe(0);
    const again = JSON.parse((await check("good", "--seed", "7", "--runs", "2", "--json")).stdout) as Report;
    expect([again.requests, again.faults]).toEqual([report.requests, report.faults]);
  });

  it("does not mistake an identical request of another caller for a retry", async () => {
    const { exitCode, stdout } = await check("parallel", "--seed", "7", "--runs", "2", "--json");
    const report = JSON.parse(stdout) as Report;
    expect(report.checks.filter(({ status }) => status === "failed")).toEqual([]);
    expect(exitCode).toBe(0);
  });

  it("reports a missing key, a duplicate, an early retry, and a retry after a 400", async () => {
    const junit = join(folder, "eager.xml");
    const { exitCode, stdout, stderr } = await check("eager", "--seed", "7", "--runs", "2", "--junit", junit);
    expect(exitCode).toBe(1);
    expect(stderr).toBe("Run 1 of 2, with faults of seed 7:\nRun 2 of 2, with faults of seed 8:\n");
    const lines = stdout.trim().split("\n");
    const failed = lines.filter((line) => line.startsWith("CHECK\tfailed")).map((line) => line.split("\t")[3]);
    expect(failed).toEqual(["waits", "no-retry-of-400", "sends-key", "creates-once"]);
    expect(stdout).toMatch(/\tPOST \/v1\/orders \(req_\w+\) took effect, and so did its retry req_/);
    expect(stdout).toMatch(/\tPOST \/v1\/orders \(req_\w+\) got 400, and came again \(req_/);
    expect(stdout).toMatch(/got (429|503) with Retry-After: 1, and came again after \d+ ms/);
    expect(lines.at(-1)).toMatch(/^GRADE\tF\t3 passed, 4 failed, 0 skipped\t/);
    const xml = readFileSync(junit, "utf8");
    expect(xml).toContain('tests="7" failures="4" errors="0" skipped="0"');
    expect(xml).toContain('<testsuite name="faults check ');
  });

  it("reports a client that does not retry", async () => {
    const { exitCode, stdout } = await check("gives-up", "--seed", "1", "--runs", "3", "--json");
    const report = JSON.parse(stdout) as Report;
    expect(exitCode).toBe(1);
    expect(statuses(report)).toMatchObject({
      "sends-key": "passed",
      "creates-once": expect.any(String),
      succeeds: "failed",
    });
    const { "retries-errors": errors, "retries-connections": connections } = statuses(report);
    expect([errors, connections]).toContain("failed");
    expect(report.checks.find(({ status }) => status === "failed")!.seen).toMatch(/ got .*, and did not come again/);
  });

  it("gives no grade to a command that fails without faults, too", async () => {
    const { exitCode, stdout, stderr } = await check("broken", "--runs", "3");
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /Error: The command fails without faults, too: it exited with 9, after POST \/v1\/orders got 415 unsupported_media_type\n/,
    );
  });

  it("fails if the command sends no request, does not exist, or is missing", async () => {
    expect(await check("idle", "--runs", "1")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("The command sent no request to the platform"),
    });
    expect(await check("keyless", "--runs", "1")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("The command sent no request with the platform's key: 1 got 401\nIt must use"),
    });
    const unknown = await runCli(["faults", "check", "--", "no-such-command-here"]);
    expect(unknown).toMatchObject({ exitCode: 127, stderr: expect.stringContaining("Command not found") });
    expect(await runCli(["faults", "check"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("service faults check -- npm test"),
    });
    expect(await runCli(["faults", "check", "npm", "test"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Unexpected argument "npm"'),
    });
  });
});
