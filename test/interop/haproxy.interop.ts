import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { startPlatform } from "../support/platform.ts";
import { environmentOf, findProgram } from "./support/debian.ts";
import { recordVersion } from "./support/tool-version.ts";

const HAPROXY = findProgram("haproxy", "haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1");

describe("deploy/haproxy.cfg", () => {
  recordVersion(HAPROXY, "-v");

  it.skipIf(HAPROXY === undefined)(
    "sends requests to processes that are ready, with the client's real address",
    async () => {
      const platform = await startPlatform(["--trust-proxy", "127.0.0.1"]);
      const folder = mkdtempSync(join(tmpdir(), "service-balancer-"));
      const port = await freePort();
      const config = readFileSync(new URL("../../deploy/haproxy.cfg", import.meta.url), "utf8")
        .replaceAll(/node-[12]:4010/g, new URL(platform.listenUrl).host)
        .replace("bind :8080", `bind 127.0.0.1:${port}`)
        .replace("global\n", `global\n  stats socket ${join(folder, "stats")}\n`);
      writeFileSync(join(folder, "haproxy.cfg"), config);
      const balancer = spawn(HAPROXY!, ["-db", "-f", join(folder, "haproxy.cfg")], {
        env: environmentOf(HAPROXY!),
        stdio: "ignore",
      });
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
        // Even if the client itself has a trusted address.
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

/** Returns HAProxy's view of its servers with the result of their last check. */
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
