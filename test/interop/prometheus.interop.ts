import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startScriptedReceiver, type ScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { alertQueries, dashboardQueries, deployed, type NamedQuery } from "../support/monitoring.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../support/postgres.ts";
import { findProgram } from "./support/debian.ts";
import { recordVersion } from "./support/tool-version.ts";

const PROMTOOL = findProgram("promtool", "prometheus");
const PROMETHEUS = findProgram("prometheus", "prometheus");
/** How long something may take on a busy machine. */
const PATIENCE = { timeout: 60_000 };

let folder: string;
let server: OwnPostgresServer;
let nodes: RunningPlatform[] = [];
let receiver: ScriptedReceiver;
let receiverStatus = 200;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-prometheus-"));
  receiver = await startScriptedReceiver((_request, response) => response.writeHead(receiverStatus).end());
  server = await startOwnPostgres();
  const database = await server.createDatabase();
  nodes = [await startNode(database)];
  nodes.push(await startNode(database));
  const { status } = await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  expect(status).toBe(201);
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await receiver.close();
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Calls the API of each process in turn. */
let calls = 0;
const api = (method: string, path: string, body?: unknown) =>
  apiOf(nodes[calls++ % nodes.length]!.baseUrl, nodes[0]!.sandboxKey)(method, path, body);

/** Creates and reads customers until the deliveries of their events have been attempted. */
async function work(customers: number): Promise<void> {
  const before = receiver.received.length;
  for (let created = 0; created < customers; created++) {
    const { status, body } = await api("POST", "/v1/customers", { email: `customer-${calls}@example.com` });
    expect(status).toBe(201);
    expect((await api("GET", `/v1/customers/${body.id}`)).status).toBe(200);
  }
  await receiver.until(before + customers);
}

const scrape = async (node: RunningPlatform) => await (await fetch(`${node.baseUrl}/metrics`)).text();

function promtool(args: readonly string[], input = ""): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(PROMTOOL!, args, { encoding: "utf8", input });
  return { status, output: stdout + stderr };
}

describe.skipIf(PROMTOOL === undefined)("promtool", () => {
  recordVersion(PROMTOOL, "--version");

  it("finds no problem in the metric names", async () => {
    await work(2);
    const flawed = promtool(
      ["check", "metrics"],
      "# HELP things_total Things\n# TYPE things_total gauge\nthings_total 1\n",
    );
    expect(flawed.output).toContain("things_total");
    expect(promtool(["check", "metrics"], await scrape(nodes[0]!))).toEqual({ status: 0, output: "" });
  });

  it("accepts the alert rules", () => {
    const { status, output } = promtool(["check", "rules", deployed("alerts.yml")]);
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining("8 rules found") });
  });

  it("sees each alert fire exactly where it should, on the metrics of a real run", async () => {
    const healthy = await seriesDuring(() => work(5));
    const failing = await seriesDuring(async () => {
      receiverStatus = 500;
      await work(5);
      await server.halt();
      expect((await api("POST", "/v1/customers", { email: "ada@example.com" })).status).toBe(503);
      expect((await api("POST", "/v1/customers", { email: "ada@example.com" })).status).toBe(503);
      await server.resume();
      receiverStatus = 200;
    });
    /** The healthy run with other values for some metrics of the first process. */
    const changed = (values: (name: string) => string | undefined) =>
      healthy.map((one) => ({ ...one, values: (one.instance === 0 ? values(one.series) : undefined) ?? one.values }));
    const gauge = (metric: string, value: number) =>
      changed((name) => (name.startsWith(`${metric}{`) ? `${value}x60` : undefined));
    const isFast = /^service_http_request_duration_seconds_bucket\{le="(0\.\d+|1)"/;
    const cases: [firing: string[], series: Series[]][] = [
      [[], healthy],
      [["ServiceErrors", "ServiceDeliveriesFailing"], failing],
      [["ServiceDown"], gauge("up", 0)],
      [["ServiceSlow"], changed((name) => (isFast.test(name) ? "0x60" : undefined))],
      [["ServiceDeliveriesLate"], gauge("service_deliveries_oldest_due_seconds", 90)],
      [["ServiceOldWriteTransaction"], gauge("service_postgres_oldest_write_transaction_seconds", 20)],
      [["ServiceEventLoopBlocked"], gauge("nodejs_eventloop_lag_p99_seconds", 0.8)],
      [["ServiceFileDescriptors"], gauge("process_max_fds", 1)],
    ];
    expect(cases.flatMap(([firing]) => firing).toSorted()).toEqual(
      alertQueries()
        .map(({ name }) => name)
        .toSorted(),
    );
    writeFileSync(join(folder, "alerts.test.yml"), JSON.stringify(testsOf(cases)));
    expect(promtool(["test", "rules", join(folder, "alerts.test.yml")])).toMatchObject({ status: 0 });
    // These tests must be able to fail.
    const [, [, series]] = cases as [unknown, (typeof cases)[number]];
    writeFileSync(join(folder, "wrong.test.yml"), JSON.stringify(testsOf([[[], series]])));
    expect(promtool(["test", "rules", join(folder, "wrong.test.yml")])).toMatchObject({
      status: 1,
      output: expect.stringContaining("ServiceErrors"),
    });
  });
});

/** A series with its values in promtool's notation, one minute apart. */
interface Series {
  series: string;
  values: string;
  instance: number;
}

/** Returns the series that Prometheus would read if every minute repeated this one. */
async function seriesDuring(act: () => Promise<void>): Promise<Series[]> {
  const before = await Promise.all(nodes.map(scrape));
  await act();
  const result: Series[] = [];
  for (const [instance, node] of nodes.entries()) {
    const target = `job="service",instance="10.0.0.${instance}:4010"`;
    const first = samplesIn(before[instance]!);
    result.push({ series: `up{${target}}`, values: "1x60", instance });
    const text = await vi.waitFor(async () => {
      const scraped = await scrape(node);
      expect(scraped).toContain("\nservice_deliveries_pending ");
      return scraped;
    }, PATIENCE);
    const counters = new Set([...text.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name]) => name));
    for (const [key, value] of samplesIn(text)) {
      const [, name = "", labels] = /^(\w+)(?:\{(.*)\})?$/.exec(key) ?? [];
      const isCounter = counters.has(name) || counters.has(name.replace(/_(bucket|sum|count)$/, ""));
      const start = first.get(key) ?? 0;
      const values = isCounter ? `${plain(start)}+${plain(value - start)}x60` : `${plain(value)}x60`;
      result.push({ series: `${name}{${labels === undefined ? "" : `${labels},`}${target}}`, values, instance });
    }
  }
  return result;
}

/** promtool does not parse exponents. */
const plain = (value: number) => value.toFixed(9);

/** Returns the finite values of a scrape by name and labels. */
function samplesIn(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const samples = lines.map((line) => {
    const end = line.lastIndexOf(" ");
    return [line.slice(0, end), Number(line.slice(end + 1))] as const;
  });
  return new Map(samples.filter(([, value]) => Number.isFinite(value)));
}

function testsOf(cases: readonly (readonly [firing: string[], series: Series[]])[]) {
  return {
    rule_files: [deployed("alerts.yml")],
    evaluation_interval: "1m",
    tests: cases.map(([firing, series]) => ({
      interval: "1m",
      input_series: series.map(({ series, values }) => ({ series, values })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: "45m",
          exp_samples: firing.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
        },
      ],
    })),
  };
}

describe.skipIf(PROMETHEUS === undefined)("Prometheus", () => {
  recordVersion(PROMETHEUS, "--version");

  it("has data for every query of the Grafana dashboard", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    writeFileSync(
      join(folder, "prometheus.yml"),
      JSON.stringify({
        global: { scrape_interval: "1s", evaluation_interval: "1s" },
        rule_files: [deployed("alerts.yml")],
        scrape_configs: [
          { job_name: "service", static_configs: [{ targets: nodes.map((node) => new URL(node.baseUrl).host) }] },
        ],
      }),
    );
    const flags = [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${new URL(url).host}`,
    ];
    const prometheus = spawn(PROMETHEUS!, flags, { stdio: "ignore" });
    const exited = once(prometheus, "exit");
    try {
      const ask = async (path: string) => (await (await fetch(url + path)).json()) as { data: never };
      const hasData = async ({ expr }: NamedQuery) => {
        const filled = expr
          .replaceAll("$__rate_interval", "20s")
          .replaceAll("$job", "service")
          .replaceAll("$instance", ".+");
        const { result } = (await ask(`/api/v1/query?query=${encodeURIComponent(filled)}`)).data as {
          result: { value: [number, string] }[];
        };
        return result.some(({ value: [, text] }) => Number.isFinite(Number(text)));
      };
      const withoutData = async (queries: readonly NamedQuery[]) => {
        const results = await Promise.all(queries.map(hasData));
        return queries.filter((_, index) => !results[index]).map(({ name }) => name);
      };
      const queries = dashboardQueries();
      expect(queries.length).toBeGreaterThan(20);
      await vi.waitFor(
        async () => {
          await work(2);
          expect(await withoutData(queries)).toEqual([]);
        },
        { ...PATIENCE, interval: 500 },
      );
      const text = readFileSync(deployed("grafana/service.json"), "utf8");
      const misnamed = dashboardQueries(text.replace("process_resident_memory_bytes", "process_memory_bytes"));
      expect(await withoutData(misnamed)).toEqual(["Memory"]);
      await vi.waitFor(async () => {
        const { groups } = (await ask("/api/v1/rules")).data as { groups: { rules: { health: string }[] }[] };
        const health = groups.flatMap(({ rules }) => rules.map((rule) => rule.health));
        expect(health).toEqual(alertQueries().map(() => "ok"));
      }, PATIENCE);
    } finally {
      prometheus.kill();
      await exited;
    }
  });
});
