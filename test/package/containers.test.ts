import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { holds, parseAddress, parseRange } from "../../src/platform/domain/addresses.ts";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { startPlatform } from "../support/platform.ts";
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
const HAPROXY = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy", "/opt/homebrew/bin/haproxy"].find(existsSync);

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

  it("trusts the balancer's address and no other", () => {
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

describe("deploy/haproxy.cfg", () => {
  it.skipIf(HAPROXY === undefined)(
    "sends requests to processes that are ready, with the client's real address",
    async () => {
      const platform = await startPlatform(["--trust-proxy", "127.0.0.1"]);
      const folder = mkdtempSync(join(tmpdir(), "service-balancer-"));
      const port = await freePort();
      const config = read("deploy/haproxy.cfg")
        .replaceAll(/node-[12]:4010/g, new URL(platform.listenUrl).host)
        .replace("bind :8080", `bind 127.0.0.1:${port}`)
        .replace("global\n", `global\n  stats socket ${join(folder, "stats")}\n`);
      writeFileSync(join(folder, "haproxy.cfg"), config);
      const balancer = spawn(HAPROXY!, ["-db", "-f", join(folder, "haproxy.cfg")], { stdio: "ignore" });
      try {
        const get = (localAddress: string, headers: Record<string, string>) =>
          statusOf({ port, path: "/v1/me", headers, localAddress });
        const checks = async () => (await statistics(join(folder, "stats"))).match(/L7OK/g);
        await vi.waitFor(async () => expect(await checks()).toHaveLength(2), { timeout: 60_000 });
        const api = apiOf(platform.baseUrl, platform.sandboxKey);
        const keyFor = async (range: string) => (await api("POST", "/v1/api_keys", { ip_allowlist: [range] })).body.key;
        const asClient = { Authorization: `Bearer ${await keyFor("127.0.0.2/32")}` };
        const asOther = { Authorization: `Bearer ${await keyFor("203.0.113.7/32")}` };
        expect(await get("127.0.0.2", asClient)).toBe(200);
        // Also where the client itself has a trusted address.
        for (const client of ["127.0.0.1", "127.0.0.2"]) {
          for (const forged of [
            {},
            { "X-Forwarded-For": "203.0.113.7" },
            { "X-Forwarded-For": "203.0.113.7, 127.0.0.1" },
          ]) {
            expect(await get(client, { ...asOther, ...forged })).toBe(403);
          }
        }
      } finally {
        await stop(balancer);
        await platform.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

function statusOf(options: { port: number; path: string; headers: Record<string, string>; localAddress: string }) {
  return new Promise<number>((resolve, reject) => {
    request({ host: "127.0.0.1", agent: false, ...options }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on("error", reject)
      .end();
  });
}

/** What HAProxy knows of its servers, the outcome of their last check included. */
async function statistics(socket: string): Promise<string> {
  const connection = connect(socket).setEncoding("utf8");
  connection.write("show stat\n");
  let text = "";
  for await (const part of connection) text += part as string;
  return text;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill();
  await exited;
}

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

  it("publishes nothing over plain http unless told to", async () => {
    const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
    const args = [...entry.slice(1), "--ephemeral", "--port", "0"];
    const attempts = [[], ["--trust-proxy", "172.17.0.1"], ["--public-url", "http://api.example.com"]];
    for (const { exitCode, stderr } of await Promise.all(attempts.map((more) => runCli([...args, ...more])))) {
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("plain http")]);
    }
  });
});
