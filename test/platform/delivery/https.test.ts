import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { verify } from "../../../src/webhooks/index.ts";
import { SELF_SIGNED } from "../../support/self-signed.ts";
import { type RunningPlatform, startPlatformOn } from "../../support/platform.ts";

let folder: string;
let platform: RunningPlatform;
const servers: { close(): void; closeAllConnections(): void }[] = [];

/** A certificate authority, and its certificate for `localhost`. */
function createCertificates(): void {
  const run = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  run("req", "-x509", ...curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test authority");
  run("req", ...curve, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost");
  writeFileSync(join(folder, "names"), "subjectAltName=DNS:localhost\n");
  const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
  run("x509", "-req", "-in", "server.csr", ...by, "-out", "server.pem", "-days", "2", "-extfile", "names");
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-https-"));
  createCertificates();
  platform = await startPlatformOn(join(folder, "platform.db"), 0, { NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") });
});
afterAll(async () => {
  await platform.stop();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(folder, { recursive: true, force: true });
});

interface Arrived {
  body: string;
  signature: string;
  protocol: string;
}

async function serve(options: { key: string; cert: string }): Promise<{ port: number; arrived: Arrived[] }> {
  const arrived: Arrived[] = [];
  const server = createServer(options, (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      arrived.push({ body, signature: String(request.headers["service-signature"]), protocol: request.httpVersion });
      response.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  servers.push(server);
  return { port: (server.address() as AddressInfo).port, arrived };
}

const trusted = () => ({
  key: readFileSync(join(folder, "server.key"), "utf8"),
  cert: readFileSync(join(folder, "server.pem"), "utf8"),
});

async function deliverTo(url: string) {
  const created = await platform.api("POST", "/v1/webhook_endpoints", { url, events: ["*"] });
  const ping = await platform.api("POST", `/v1/webhook_endpoints/${created.body.id}/ping`);
  const delivery = await vi.waitFor(
    async () => {
      const { data } = (await platform.api("GET", `/v1/deliveries?event=${ping.body.id}`)).body;
      const found = (await platform.api("GET", `/v1/deliveries/${data[0].id}`)).body;
      expect(found.attempts).toHaveLength(1);
      return found;
    },
    { timeout: 60_000, interval: 10 },
  );
  await platform.api("DELETE", `/v1/webhook_endpoints/${created.body.id}`);
  return { delivery, secret: created.body.secret as string, event: ping.body.id as string };
}

it("the platform delivers over https to a receiver with a trusted certificate", async () => {
  const { port, arrived } = await serve(trusted());
  const { delivery, secret, event } = await deliverTo(`https://localhost:${port}/hook`);
  expect(delivery).toMatchObject({ status: "succeeded", attempts: [{ status_code: 200 }] });
  const { body, signature, protocol } = arrived[0]!;
  expect(verify({ payload: body, header: signature, secrets: secret }).id).toBe(event);
  expect(protocol).toBe("1.1");
});

it("the platform rejects a certificate for another host", async () => {
  const { port, arrived } = await serve(trusted());
  const { delivery } = await deliverTo(`https://127.0.0.1:${port}/`);
  expect(delivery).toMatchObject({
    status: "pending",
    attempts: [{ status_code: null, error: expect.stringMatching(/^tls: /) }],
  });
  expect(arrived).toEqual([]);
});

it("the platform rejects a certificate of an unknown authority", async () => {
  const { port, arrived } = await serve(SELF_SIGNED);
  const { delivery } = await deliverTo(`https://localhost:${port}/`);
  expect(delivery).toMatchObject({
    status: "pending",
    attempts: [{ status_code: null, error: expect.stringMatching(/^tls: /) }],
  });
  expect(arrived).toEqual([]);
});
