import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { followStream } from "../platform/delivery/support/event-stream.ts";
import { blocksOf } from "../docs/pages.ts";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { runCli } from "../support/run-cli.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";
import { environmentOf, findProgram } from "./support/debian.ts";
import { recordVersion } from "./support/tool-version.ts";

interface Proxy {
  language: string;
  program: string | undefined;
  version: string;
  /** Returns its arguments, and the configuration around that of the page. */
  run: (file: string, folder: string) => string[];
  wrap?: (config: string, folder: string) => string;
}

const PROXIES: Record<string, Proxy> = {
  nginx: {
    language: "nginx",
    program: findProgram("nginx", "nginx", "nginx-common", "libpcre2-8-0"),
    version: "-v",
    run: (file, folder) => ["-c", file, "-p", folder, "-e", "stderr"],
    wrap: (config, folder) =>
      `daemon off; master_process off; pid ${folder}/pid; events {}
      http { access_log off; ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")} ${config} }`,
  },
  Caddy: {
    language: "caddyfile",
    program: findProgram("caddy", "caddy"),
    version: "version",
    run: (file) => ["run", "--adapter", "caddyfile", "--config", file],
    wrap: (config) => `{\n admin off\n}\n${config}`,
  },
  "HAProxy, as a reverse proxy": {
    language: "haproxy",
    program: findProgram("haproxy", "haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"),
    version: "-v",
    run: (file) => ["-db", "-f", file],
  },
};

let platform: RunningPlatform;
beforeAll(async () => {
  platform = await startPlatform(["--trust-proxy", "127.0.0.1"]);
});
afterAll(() => platform.stop());

/** Runs a proxy with the configuration of docs/proxies.md. Resolves with its URL once it sends requests on. */
async function start(
  proxy: Proxy,
  change = (config: string, _folder: string) => config,
  statusOf = async (url: string) => (await fetch(url)).status,
) {
  const folder = mkdtempSync(join(tmpdir(), "service-proxy-"));
  const port = await freePort();
  const { text } = blocksOf("proxies.md").find(({ language }) => language === proxy.language)!;
  const config = change(text, folder)
    .replaceAll("127.0.0.1:4010", new URL(platform.listenUrl).host)
    .replace(/(listen |bind )?:?8080/, (_all, word = "") => `${word}${word === "" ? ":" : "127.0.0.1:"}${port}`);
  const file = join(folder, "config");
  writeFileSync(file, proxy.wrap?.(config, folder) ?? config);
  const env = { ...environmentOf(proxy.program!), HOME: folder };
  const child: ChildProcess = spawn(proxy.program!, proxy.run(file, folder), {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  for (const output of [child.stdout!, child.stderr!]) output.on("data", (chunk) => (complaints += String(chunk)));
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill();
    await vi.waitFor(() => expect(child.exitCode ?? child.signalCode).not.toBeNull(), 20_000);
    rmSync(folder, { recursive: true, force: true });
  };
  await vi.waitFor(async () => expect(await statusOf(`${url}/healthz`), complaints).toBe(200), 20_000);
  return { url, stop };
}

const listen = (url: string) =>
  runCli(["listen", "--forward-to", "http://127.0.0.1:9/", "--", "true"], {
    env: { SERVICE_BASE_URL: url, SERVICE_API_KEY: platform.sandboxKey },
  });

describe.each(Object.entries(PROXIES))("docs/proxies.md: %s", (_name, proxy) => {
  recordVersion(proxy.program, proxy.version);
  const itRuns = it.skipIf(proxy.program === undefined);
  let running: Awaited<ReturnType<typeof start>> | undefined;
  beforeAll(async () => {
    if (proxy.program !== undefined) running = await start(proxy);
  });
  afterAll(() => running?.stop());

  itRuns("passes listeners on", async () => {
    const { exitCode, stderr } = await listen(running!.url);
    expect(exitCode, stderr).toBe(0);
  });

  itRuns("passes each event of a stream on immediately", async () => {
    const stream = await followStream(running!.url, platform.sandboxKey);
    for (const count of [2, 3]) {
      await apiOf(running!.url, platform.sandboxKey)("POST", "/v1/orders", { amount: count, currency: "EUR" });
      await stream.until(count);
    }
    stream.close();
  });

  itRuns("replaces the client address that a request claims, and keeps its public URL in links", async () => {
    const api = apiOf(running!.url, platform.sandboxKey);
    const keyFor = async (range: string) => (await api("POST", "/v1/api_keys", { ip_allowlist: [range] })).body.key;
    const { hostname, port } = new URL(running!.url);
    const get = async (key: string, headers: Record<string, string> = {}) =>
      new Promise<number>((resolve, reject) => {
        const from = { host: hostname, port, path: "/v1/me", agent: false, localAddress: "127.0.0.2" } as const;
        request({ ...from, headers: { Authorization: `Bearer ${key}`, ...headers } }, (response) => {
          response.resume();
          resolve(response.statusCode!);
        })
          .on("error", reject)
          .end();
      });
    expect(await get(await keyFor("127.0.0.2/32"))).toBe(200);
    expect(await get(await keyFor("203.0.113.7/32"), { "X-Forwarded-For": "203.0.113.7" })).toBe(403);
    const { headers } = await api("GET", "/v1/api_keys?limit=1");
    expect(headers.get("link")).toContain(`<${running!.url}/v1/api_keys?`);
  });
});

describe.each(["nginx", "HAProxy, as a reverse proxy"])("docs/proxies.md: %s", (name) => {
  const proxy = PROXIES[name]!;
  it.skipIf(proxy.program === undefined)("serves https with the lines for TLS", async () => {
    const [, tls] = blocksOf("proxies.md").filter(({ language }) => language === proxy.language);
    const withTls = (config: string, folder: string) => {
      const files = { pem: join(folder, "cert.pem"), key: join(folder, "cert.key") };
      writeFileSync(files.pem, SELF_SIGNED.cert + SELF_SIGNED.key);
      writeFileSync(files.key, SELF_SIGNED.key);
      const lines = tls!.text
        .replace("443", "8080")
        .replaceAll(/\S+\.(pem|key)\b/g, (_all, kind: keyof typeof files) => files[kind]);
      return config.replace(/(listen 8080;|bind :8080)/, lines);
    };
    const securely = async (url: string) => {
      const options = { ca: SELF_SIGNED.cert, servername: "platform.test", agent: false };
      const [response] = (await once(get(url.replace("http:", "https:"), options), "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode!;
    };
    const running = await start(proxy, withTls, securely);
    await running.stop();
  });
});

describe("nginx with a plain proxy_pass", () => {
  it.skipIf(PROXIES["nginx"]!.program === undefined)(
    "passes streams on as they arrive, and makes listen fail with the reason",
    async () => {
      const plain = (config: string) =>
        config.replaceAll(/^.*(proxy_(?!pass)|upgrade).*$/gim, "").replace('""      "";\n}', "");
      const proxy = await start(PROXIES["nginx"]!, plain);
      const stream = await followStream(proxy.url, platform.sandboxKey);
      stream.close();
      const { exitCode, stderr } = await listen(proxy.url);
      await proxy.stop();
      expect(exitCode).toBe(1);
      expect(stderr).toContain("A proxy has probably removed it");
    },
    // A stream that nginx holds back would never begin.
    60_000,
  );
});
