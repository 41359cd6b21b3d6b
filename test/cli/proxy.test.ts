import { mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startConnectProxy } from "../support/connect-proxy.ts";
import { startListener } from "../support/listener.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";

const on = cliOnPlatform(["--public-url", "https://platform.test"]);

const certificate = join(mkdtempSync(join(tmpdir(), "service-proxy-")), "certificate.pem");
writeFileSync(certificate, SELF_SIGNED.cert);

/** A TLS server in front of the platform. Only a proxy can resolve its name, platform.test. */
async function startTls(): Promise<number> {
  const server = createTlsServer(SELF_SIGNED, (socket) => {
    const upstream = connect(Number(new URL(on.platform.listenUrl).port), "127.0.0.1");
    socket.pipe(upstream).pipe(socket);
    socket.on("error", () => upstream.destroy());
    upstream.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

const behind = (proxy: string, more: Record<string, string> = {}): Record<string, string> => ({
  SERVICE_API_KEY: on.platform.sandboxKey,
  SERVICE_BASE_URL: "https://platform.test",
  HTTPS_PROXY: proxy,
  NODE_EXTRA_CA_CERTS: certificate,
  ...more,
});

describe.each([
  ["plain", false],
  ["TLS", true],
])("a proxy that speaks %s", (_name, tls) => {
  it("forwards requests to the platform", async () => {
    const proxy = await startConnectProxy(await startTls(), { tls });
    const env = behind(proxy.url.replace("://", "://ada:p%40ss@"));
    const { exitCode, stdout, stderr } = await on.service(["status", "--json"], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const states = JSON.parse(stdout).map(({ id, status }: { id: string; status: string }) => [id, status]);
    expect(Object.fromEntries(states)).toMatchObject({ platform: "ok", credential: "ok" });
    expect(new Set(proxy.targets)).toEqual(new Set(["platform.test:443"]));
    expect(new Set(proxy.signIns)).toEqual(new Set([`Basic ${Buffer.from("ada:p@ss").toString("base64")}`]));
  });

  it("forwards the WebSocket of listen to the platform", async () => {
    const proxy = await startConnectProxy(await startTls(), { tls });
    const listener = await startListener(behind(proxy.url), []);
    const { stdout } = await on.service(["trigger", "customer.created", "-q"], {
      env: { SERVICE_BASE_URL: on.platform.listenUrl },
    });
    await listener.record(({ event, id }) => event === "received" && id === stdout.trim());
    expect(await listener.interrupt()).toBe(0);
    expect(proxy.targets).toEqual(["platform.test:443"]);
  });
});

describe("a host in NO_PROXY", () => {
  it("is reached without the proxy, also by listen", async () => {
    const proxy = await startConnectProxy(1, { tls: true });
    const port = await startTls();
    const env = behind(proxy.url, { SERVICE_BASE_URL: `https://localhost.test:${port}`, NO_PROXY: "localhost.test" });
    const { exitCode, stderr } = await on.service(["whoami"], { env });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 7,
      stderr: expect.stringContaining("Host localhost.test not found"),
    });
    const listen = await on.service(["listen", "--max-downtime", "1s"], { env });
    expect(listen.exitCode).toBe(7);
    expect(listen.stderr + listen.stdout).toContain("localhost.test");
    expect(proxy.targets).toEqual([]);
  });
});

describe("a proxy that cannot be used", () => {
  it("is reported by listen", async () => {
    const env = behind("https://127.0.0.1:1");
    const { exitCode, stdout } = await on.service(["listen", "--max-downtime", "1s", "--json"], { env });
    expect(exitCode).toBe(7);
    expect(stdout).toContain('"code":"proxy"');
    expect(stdout).toContain("The proxy 127.0.0.1:1 cannot be reached");
  });

  it.each(["ftp://proxy:1", "http://100%:secret@proxy:1"])(
    "is reported clearly if its variable contains %s",
    async (text) => {
      for (const command of [["whoami"], ["listen"]]) {
        const { exitCode, stderr } = await on.service(command, { env: behind(text) });
        expect(exitCode).toBe(7);
        expect(stderr).toContain("The variable HTTPS_PROXY is not the address of an http or https proxy");
        expect(stderr).not.toContain("secret");
      }
    },
  );
});
