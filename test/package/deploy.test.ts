import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { alertQueries, dashboardQueries, deployed, metricsIn } from "../support/monitoring.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { runCli } from "../support/run-cli.ts";

/** The version of the machine's systemd, if any. */
const systemd = /^systemd (\d+)/.exec(
  spawnSync("systemd-analyze", ["--version"], { encoding: "utf8" }).stdout ?? "",
)?.[1];
const deploying = readFileSync(new URL("../../docs/deploying.md", import.meta.url), "utf8");

describe("deploy/service.service", () => {
  it("starts the platform with existing flags", async () => {
    const [, command = ""] = /^ExecStart=(.*)$/m.exec(readFileSync(deployed("service.service"), "utf8")) ?? [];
    const help = (await runCli(["serve", "--help"])).stdout + (await runCli(["--help"])).stdout;
    const flags = command.match(/--[a-z-]+/g) ?? [];
    expect(flags.length).toBeGreaterThan(2);
    for (const flag of flags) expect(help).toContain(flag);
  });

  it.skipIf(systemd === undefined)("is valid", () => {
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", deployed("service.service")], {
      encoding: "utf8",
    });
    expect(verified.stderr.split("\n").filter((line) => line.includes("service.service"))).toEqual([]);
  });

  // Versions of systemd rate settings differently.
  it.skipIf(!deploying.includes(`systemd ${systemd})`))("has the exposure level that the documentation states", () => {
    const args = ["security", "--offline=true", "--no-pager", deployed("service.service")];
    const rated = execFileSync("systemd-analyze", args, { encoding: "utf8" });
    const [, level] = /Overall exposure level for service\.service: (\d\.\d)/.exec(rated) ?? [];
    expect(deploying).toContain(`exposure level of ${level} of 10 (systemd ${systemd})`);
  });
});

describe.each([
  ["deploy/alerts.yml", alertQueries, 8],
  ["deploy/grafana/service.json", dashboardQueries, 20],
] as const)("%s", (_file, queriesOf, count) => {
  let server: PostgresServer & { remove(): Promise<void> };
  let platform: RunningPlatform;

  beforeAll(async () => {
    server = await usePostgres();
    platform = await startNode(await server.createDatabase());
  });
  afterAll(async () => {
    await platform.stop();
    await server.remove();
  });

  it("uses only metrics that a platform has", async () => {
    const { body } = await apiOf(platform.baseUrl, undefined)("GET", "/metrics");
    // Only Prometheus itself has the first series.
    const known = ["up", ...[...(body as string).matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!)];
    const queries = queriesOf();
    expect(queries.length).toBeGreaterThanOrEqual(count);
    for (const { name, expr } of queries) {
      const read = metricsIn(expr);
      expect(read.length, name).toBeGreaterThan(0);
      expect(known, name).toEqual(expect.arrayContaining(read));
    }
  });
});
