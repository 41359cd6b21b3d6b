import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { json, listen, startServer } from "../client/support/scripted-server.ts";
import { freePort } from "../support/free-port.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";
import { CUSTOMER, listOf } from "../support/api-objects.ts";
import { makeProject, startDev, startInProject } from "./support/dev-project.ts";

const KEY = { SERVICE_API_KEY: "sk_sandbox_x" };
const customers = (baseUrl: string, env: Record<string, string> = {}, ...args: string[]) =>
  runCli(["customers", "list", "--base-url", baseUrl, ...args], { env: { ...KEY, ...env } });

describe("a command exits with 7", () => {
  it("if nothing listens", async () => {
    const port = await freePort();
    expect(await customers(`http://127.0.0.1:${port}`)).toEqual({
      exitCode: 7,
      stdout: "",
      stderr: `Error: Connection refused: nothing listens on 127.0.0.1:${port}\nStart the platform with \`service serve --port ${port}\`, or choose another one with --base-url.\n`,
    });
  });

  it("if another server responds", async () => {
    const { url } = await startServer((_request, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Welcome to the hotel</html>"),
    );
    const { exitCode, stderr } = await customers(url, {}, "--json");
    expect(exitCode).toBe(7);
    expect(JSON.parse(stderr)).toMatchObject({ code: "not_the_platform", exit_code: 7 });
  });
});

describe("a certificate of a private authority", () => {
  it("is rejected with a hint about NODE_EXTRA_CA_CERTS, and accepted with it", async () => {
    const server = createTlsServer(SELF_SIGNED, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(listOf()));
    });
    const url = (await listen(server)).replace("http:", "https:");
    const { exitCode, stderr } = await customers(url);
    expect(exitCode).toBe(7);
    expect(stderr).toContain("NODE_EXTRA_CA_CERTS");
    const file = join(createConfigDir(), "ca.pem");
    writeFileSync(file, SELF_SIGNED.cert);
    expect(await customers(url, { NODE_EXTRA_CA_CERTS: file })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });
});

describe("a proxy of the environment", () => {
  it("tunnels https to hosts that NO_PROXY does not contain", async () => {
    const platform = createTlsServer(SELF_SIGNED, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(listOf(CUSTOMER)));
    });
    const { port } = new URL(await listen(platform));
    const asked: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on("connect", (request, socket) => {
      asked.push(request.url);
      const upstream = connect(Number(port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      socket.on("error", () => upstream.destroy());
      upstream.on("error", () => socket.destroy());
    });
    const file = join(createConfigDir(), "ca.pem");
    writeFileSync(file, SELF_SIGNED.cert);
    const env = { HTTPS_PROXY: await listen(proxy), NODE_EXTRA_CA_CERTS: file };
    expect(await customers("https://platform.test", env, "-q")).toEqual({ exitCode: 0, stdout: "cus_1\n", stderr: "" });
    expect(asked).toEqual(["platform.test:443"]);
    const direct = await customers("https://platform.test", { ...env, NO_PROXY: "platform.test" });
    expect(direct.exitCode).toBe(7);
    expect(asked).toHaveLength(1);
  });

  it("is used only for other machines", async () => {
    const proxy = await startServer(json(200, listOf(CUSTOMER)));
    const env = { HTTP_PROXY: proxy.url };
    expect(await customers("http://platform.test", env, "--insecure", "-q")).toMatchObject({
      exitCode: 0,
      stdout: "cus_1\n",
    });
    expect(proxy.requests.map(({ url }) => url)).toEqual(["http://platform.test/v1/customers?limit=20"]);
    expect((await customers("http://127.0.0.1:9", env)).exitCode).toBe(7);
    expect(proxy.requests).toHaveLength(1);
  });
});

describe("a base URL that is none", () => {
  it.each(["foo", "example.com:4010", "ftp://example.com"])(
    "is a usage error without a credential, too: %s",
    async (url) => {
      for (const command of [["orders", "list"], ["status"]]) {
        const { exitCode, stdout, stderr } = await runCli([...command, "--base-url", url]);
        expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
        expect(stderr).toMatch(new RegExp(`^Error: "${url}" (is not a URL|does not begin with http:// or https://)\n`));
      }
    },
  );
});

describe("a project's key that is rejected", () => {
  it("has a hint that another platform uses the port of service.yaml", async () => {
    const project = await makeProject({ "service.yaml": "platform: { port: PORT }" });
    const first = startDev(project);
    await first.waitFor("✓ Ready");
    await first.interrupt("SIGTERM");
    const other = startInProject(project, ["serve", "--ephemeral", "--port", String(project.port)]);
    await other.waitFor("is ready at");
    const { exitCode, stderr } = await project.service(["customers", "list"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 4,
      stderr: expect.stringContaining(`so another platform listens at http://127.0.0.1:${project.port}.`),
    });
    await other.interrupt("SIGTERM");
  });
});
