import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { holds, parseAddress, parseRange } from "../../src/network/addresses.ts";
import { runCli } from "../support/run-cli.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

interface Service {
  command?: string[];
  environment?: Record<string, string>;
  networks?: Record<string, { ipv4_address: string }>;
  volumes?: string[];
}

const compose = parse(read("docker-compose.yml"), { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { ipam: { config: [{ subnet: string; ip_range: string }] } }>;
  volumes: Record<string, unknown>;
};
const dockerfile = read("Dockerfile");

/** Has every flag of every command. */
const reference = read("docs/commands.md");

describe("docker-compose.yml", () => {
  it("has PostgreSQL, two identical processes and a load balancer", () => {
    expect(Object.keys(compose.services).toSorted()).toEqual(["balancer", "node-1", "node-2", "postgres"]);
    expect(compose.services["node-1"]).toEqual(compose.services["node-2"]);
    expect(compose.volumes).toHaveProperty("postgres");
    const { SERVICE_DATABASE, SERVICE_MASTER_KEY } = compose.services["node-1"]!.environment!;
    expect(SERVICE_DATABASE).toMatch(/^postgres:\/\/.*@postgres:5432\/service\?sslmode=disable$/);
    expect(SERVICE_MASTER_KEY).toMatch(/^\$\{SERVICE_MASTER_KEY:\?/);
  });

  it("starts the processes with existing flags", () => {
    const flags = [
      ...compose.services["node-1"]!.command!,
      ...dockerfile.match(/"--[\w-]+"/g)!.map((flag) => flag.slice(1, -1)),
    ];
    for (const flag of flags.filter((text) => text.startsWith("--"))) expect(reference).toContain(flag);
  });

  it("trusts only the load balancer's address", () => {
    const command = compose.services["node-1"]!.command!;
    const trusted = command[command.indexOf("--trust-proxy") + 1];
    expect(trusted).toMatch(/^[\d.]+$/);
    expect(compose.services["balancer"]!.networks!["edge"]!.ipv4_address).toBe(trusted);
    expect(dockerfile).not.toContain("--trust-proxy");
    const [{ subnet, ip_range }] = compose.networks["edge"]!.ipam.config;
    const isIn = (range: string) => holds(parseRange(range)!, parseAddress(trusted!)!);
    expect([isIn(subnet), isIn(ip_range)]).toEqual([true, false]);
  });
});

describe("Dockerfile", () => {
  it("ends like that of docs/deploying.md, which installs the package file", () => {
    const [, shown = ""] = /^```dockerfile\n([^]*?)^```$/m.exec(read("docs/deploying.md")) ?? [];
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect(shown).toContain(`npm install --global /tmp/service-cli-${version}.tgz\n`);
    const own = dockerfile
      .split("\n")
      .filter((line) => /^(?:FROM|USER|RUN mkdir|ENV|ENTRYPOINT) (?!.* AS )/.test(line));
    expect(own).toHaveLength(5);
    for (const line of own) expect(shown.split("\n")).toContain(line);
  });

  it("runs the platform as an unprivileged user", () => {
    const steps = dockerfile.split("\n").filter((line) => /^[A-Z]+ /.test(line));
    expect(steps.filter((line) => line.startsWith("FROM "))).toHaveLength(2);
    expect(steps).toContain("USER node");
    expect(steps.findIndex((line) => line === "USER node")).toBeLessThan(
      steps.findIndex((line) => line.startsWith("ENTRYPOINT ")),
    );
    const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
    expect(entry.slice(0, 2)).toEqual(["service-cli", "serve"]);
  });

  it("publishes nothing over plain http by default", async () => {
    const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
    const args = [...entry.slice(1), "--ephemeral", "--port", "0"];
    const attempts = [[], ["--trust-proxy", "172.17.0.1"], ["--public-url", "http://api.example.com"]];
    for (const { exitCode, stderr } of await Promise.all(attempts.map((more) => runCli([...args, ...more])))) {
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("plain http")]);
    }
  });
});
