import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createNetServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { proxyFor } from "../../src/client/proxy-settings.ts";
import { clientOf } from "./support/client.ts";
import { json, listen, startServer } from "./support/scripted-server.ts";
import { startConnectProxy } from "../support/connect-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";

const GET = { method: "GET", path: "/v1/things" } as const;

const portOf = (url: string): number => Number(new URL(url).port);

describe("a proxy", () => {
  it("receives the absolute URL of a plain http request", async () => {
    const proxy = await startServer(json(200, { through: "proxy" }));
    const client = clientOf("http://platform.test:8080", { proxies: { http_proxy: proxy.url } });
    await expect(client.request(GET)).resolves.toMatchObject({ body: { through: "proxy" } });
    expect(proxy.requests[0]).toMatchObject({
      url: "http://platform.test:8080/v1/things",
      headers: { host: "platform.test:8080", authorization: "Bearer sk_sandbox_test" },
    });
  });

  it("receives CONNECT for https, with its own authentication", async () => {
    const platform = await listen(createTlsServer(SELF_SIGNED));
    const proxy = await startConnectProxy(portOf(platform));
    const withUser = proxy.url.replace("http://", "http://ada:p%40ss@");
    const client = clientOf("https://platform.test", { proxies: { https_proxy: withUser } });
    await expect(client.request(GET)).rejects.toMatchObject({ failure: "tls" });
    expect(proxy.targets).toEqual(["platform.test:443"]);
    expect(proxy.signIns).toEqual([`Basic ${Buffer.from("ada:p@ss").toString("base64")}`]);
  });

  it("is reported if it requires a password, for https", async () => {
    const proxy = createServer();
    proxy.on("connect", (_request, socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
    const client = clientOf("https://platform.test", { proxies: { https_proxy: await listen(proxy) } });
    await expect(client.request(GET)).rejects.toMatchObject({
      failure: "proxy_sign_in",
      message: expect.stringContaining("(407)"),
      hint: expect.stringContaining("user:password"),
    });
  });

  it("is reported if it requires a password, for http", async () => {
    const proxy = await startServer(json(407, {}));
    const client = clientOf("http://platform.test", { proxies: { http_proxy: proxy.url } });
    await expect(client.request(GET)).rejects.toMatchObject({ failure: "proxy_sign_in" });
  });

  it("is reported if it is unreachable", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const client = clientOf("https://platform.test", { proxies: { https_proxy: url } });
    await expect(client.request(GET)).rejects.toMatchObject({
      failure: "proxy",
      message: expect.stringContaining(`The proxy ${new URL(url).host} cannot be reached`),
      hint: expect.stringContaining("NO_PROXY"),
    });
  });

  it("tunnels to an IP address without a TLS server name", async () => {
    const platform = createTlsServer(SELF_SIGNED);
    const warnings: string[] = [];
    const warned = ({ name }: Error) => warnings.push(name);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const proxy = await startConnectProxy(portOf(await listen(platform)));
    const client = clientOf("https://192.0.2.1", { proxies: { https_proxy: proxy.url } });
    // The certificate is not trusted; only the CONNECT request matters here.
    await expect(client.request(GET)).rejects.toMatchObject({ failure: "tls" });
    expect(proxy.targets).toEqual(["192.0.2.1:443"]);
    expect(warnings).toEqual([]);
  });

  it("is reported if its TLS certificate is not trusted, and never receives the password", async () => {
    const proxy = await startConnectProxy(1, { tls: true });
    for (const [url, variable] of [
      ["https://platform.test", "https_proxy"],
      ["http://platform.test", "http_proxy"],
    ] as const) {
      const client = clientOf(url, { proxies: { [variable]: proxy.url.replace("://", "://ada:pass@") } });
      await expect(client.request(GET)).rejects.toMatchObject({
        failure: "proxy",
        message: expect.stringContaining(`The proxy ${new URL(proxy.url).host} cannot be reached over TLS`),
        hint: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
      });
    }
    expect(proxy.signIns).toEqual([]);
  });

  it("is reported if it is unreachable, for http", async () => {
    const client = clientOf("http://platform.test", { proxies: { http_proxy: "http://127.0.0.1:1" } });
    await expect(client.request(GET)).rejects.toMatchObject({
      failure: "proxy",
      message: expect.stringContaining("The proxy 127.0.0.1:1 cannot be reached"),
    });
  });

  it.each(["http://platform.test", "https://platform.test"])("times out if it never responds: %s", async (url) => {
    const interrupt = new AbortController();
    const sockets: Socket[] = [];
    const silent = createNetServer((socket) => {
      sockets.push(socket);
      socket.once("data", () => interrupt.abort(new Error("interrupted")));
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const proxy = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const client = clientOf(url, { proxies: { http_proxy: proxy, https_proxy: proxy }, signal: interrupt.signal });
    await expect(client.request(GET)).rejects.toThrow("interrupted");
    const late = clientOf(url, { proxies: { http_proxy: proxy, https_proxy: proxy }, timeLimit: 0.05 });
    await expect(late.request(GET)).rejects.toMatchObject({ failure: "timed_out" });
  });

  it("may have an IPv6 address", async () => {
    const platform = await listen(createTlsServer(SELF_SIGNED));
    const proxy = await startConnectProxy(portOf(platform), { host: "::1" });
    const client = clientOf("https://[2001:db8::1]:8443", { proxies: { https_proxy: proxy.url } });
    await expect(client.request(GET)).rejects.toMatchObject({ failure: "tls" });
    expect(proxy.targets).toEqual(["[2001:db8::1]:8443"]);
  });

  it("is not used for this machine", async () => {
    const proxy = await startServer(json(200, { through: "proxy" }));
    const platform = await startServer(json(200, { through: "nothing" }));
    const client = clientOf(platform.url, { proxies: { http_proxy: proxy.url } });
    await expect(client.request(GET)).resolves.toMatchObject({ body: { through: "nothing" } });
  });
});

describe("NO_PROXY", () => {
  const through = (url: string, no_proxy: string) =>
    proxyFor(new URL(url), { http_proxy: "proxy:3128", https_proxy: "proxy:3128", no_proxy }) !== undefined;

  it.each([
    ["https://api.example.com", "", true],
    ["https://api.example.com", "example.org", true],
    ["https://api.example.com", "example.com", false],
    ["https://api.example.com", ".example.com", false],
    ["https://api.example.com", "other, API.example.com", false],
    ["https://badexample.com", "example.com", true],
    ["https://api.example.com", "example.com:443", false],
    ["https://api.example.com", "example.com:8443", true],
    ["https://api.example.com", "*", false],
    ["https://[fd00::1]", "fd00::1", false],
    ["https://[fd00::1]:8443", "fd00:0:0::0001", false],
    ["https://[fd00::1]", "[FD00::1]", false],
    ["https://[fd00::1]:8443", "[fd00::1]:8443", false],
    ["https://[fd00::1]:8443", "[fd00::1]:443", true],
    ["https://[fd00::12]", "fd00::1", true],
    ["https://[fd00::1]", "fd00::/8", false],
    ["https://[fe00::1]", "fd00::/8", true],
    ["https://10.1.2.3", "10.1.2.3:443", false],
    ["https://10.1.2.3", "10.0.0.0/8, 192.168.0.0/16", false],
    ["https://11.1.2.3", "10.0.0.0/8", true],
    ["https://10.1.2.3", "10.0.0.0/33", true],
    ["https://10.1.2.3", "10.0.0.0/", true],
    ["https://api.example.com", "fd00::1", true],
    ["http://127.0.0.1:4010", "", false],
    ["http://[::1]:4010", "", false],
  ])("sends %s with NO_PROXY=%j through the proxy: %s", (url, noProxy, expected) => {
    expect(through(url, noProxy)).toBe(expected);
  });

  it.each(["http://[bad", "socks5://127.0.0.1:1080", "http://", "http://100%:pass@proxy:3128"])(
    "rejects %j without repeating it",
    (text) => {
      const reach = () => proxyFor(new URL("https://example.com"), { https_proxy: text });
      expect(reach).toThrow("The variable HTTPS_PROXY is not the address of an http or https proxy");
    },
  );

  it("accepts a proxy without a scheme", () => {
    expect(proxyFor(new URL("https://example.com"), { https_proxy: "proxy:3128" })?.href).toBe("http://proxy:3128/");
  });
});
