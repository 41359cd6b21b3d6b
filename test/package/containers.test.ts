import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runCli } from "../support/run-cli.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

interface Service {
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
}

const compose = parse(read("docker-compose.yml"), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const dockerfile = read("Dockerfile");

/** Every flag that a container is started with. */
async function knownFlags(): Promise<string> {
  return (await runCli(["serve", "--help"])).stdout + (await runCli(["--help"])).stdout;
}

describe("docker-compose.yml", () => {
  it("has PostgreSQL, two equal processes and a balancer", () => {
    expect(Object.keys(compose.services).toSorted()).toEqual(["balancer", "node-1", "node-2", "postgres"]);
    expect(compose.services["node-1"]).toEqual(compose.services["node-2"]);
    expect(compose.volumes).toHaveProperty("postgres");
    const { SERVICE_DATABASE, SERVICE_MASTER_KEY } = compose.services["node-1"]!.environment!;
    expect(SERVICE_DATABASE).toMatch(/^postgres:\/\/.*@postgres:5432\/service\?sslmode=disable$/);
    expect(SERVICE_MASTER_KEY).toMatch(/^\$\{SERVICE_MASTER_KEY:\?/);
  });

  it("starts the processes with flags that exist", async () => {
    const flags = [
      ...compose.services["node-1"]!.command!,
      ...dockerfile.match(/"--[\w-]+"/g)!.map((flag) => flag.slice(1, -1)),
    ];
    const known = await knownFlags();
    for (const flag of flags.filter((text) => text.startsWith("--"))) expect(known).toContain(flag);
  });

  it("gives the balancer a configuration that asks both processes whether they are ready", () => {
    const [file] = compose.services["balancer"]!.volumes!;
    const text = read(file!.split(":", 1)[0]!.replace(/^\.\//, ""));
    expect(text).toContain("GET /readyz");
    for (const name of ["node-1", "node-2"]) expect(text).toContain(`server ${name} ${name}:4010`);
  });
});

describe("Dockerfile", () => {
  it("runs the platform as a user without rights", () => {
    const steps = dockerfile.split("\n").filter((line) => /^[A-Z]+ /.test(line));
    expect(steps.filter((line) => line.startsWith("FROM "))).toHaveLength(2);
    expect(steps).toContain("USER node");
    expect(steps.findIndex((line) => line === "USER node")).toBeLessThan(
      steps.findIndex((line) => line.startsWith("ENTRYPOINT ")),
    );
    const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
    expect(entry.slice(0, 2)).toEqual(["service-cli", "serve"]);
  });
});
