import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { runCli } from "../support/run-cli.ts";

const on = apiOnPlatform();
const pathOf = (name: string) => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

/** Metrics of a process that runs on PostgreSQL, or of Prometheus itself. */
const ELSEWHERE = ["service_postgres_oldest_write_transaction_seconds", "up"];

describe("deploy/service.service", () => {
  it("starts the platform with existing flags", async () => {
    const [, command = ""] = /^ExecStart=(.*)$/m.exec(readFileSync(pathOf("service.service"), "utf8")) ?? [];
    const help = (await runCli(["serve", "--help"])).stdout + (await runCli(["--help"])).stdout;
    const flags = command.match(/--[a-z-]+/g) ?? [];
    expect(flags.length).toBeGreaterThan(2);
    for (const flag of flags) expect(help).toContain(flag);
  });

  it.skipIf(!hasSystemd)("is valid, and exposes as little as systemd can tell", () => {
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", pathOf("service.service")], {
      encoding: "utf8",
    });
    expect(verified.stderr.split("\n").filter((line) => line.includes("service.service"))).toEqual([]);
    const args = ["security", "--offline=true", "--threshold=20", "--no-pager", pathOf("service.service")];
    const rated = execFileSync("systemd-analyze", args, { encoding: "utf8" });
    expect(rated).toMatch(/Overall exposure level for service\.service: [01]\.\d/);
  });
});

describe("deploy/alerts.yml", () => {
  it("asks for metrics that a platform has", async () => {
    const { groups } = parse(readFileSync(pathOf("alerts.yml"), "utf8")) as {
      groups: { rules: { alert: string; expr: string }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(5);
    await on.api("GET", "/v1/me");
    const { body } = await on.api("GET", "/metrics");
    const known = [...(body as string).matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!);
    for (const { alert, expr } of rules) {
      const asked = [...expr.matchAll(/\b(?:service|process|nodejs)_\w+|\bup\b/g)].map(([name]) => name);
      expect(asked.length, alert).toBeGreaterThan(0);
      for (const name of asked) expect([...known, ...ELSEWHERE], alert).toContain(name.replace(/_bucket$/, ""));
    }
  });
});
