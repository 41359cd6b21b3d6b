import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningListener, spawnListener } from "../support/listener.ts";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { expectProcessWithin, TELLS_PROCESS_TIME } from "../support/process-time.ts";
import { type RawResponse, sendRaw } from "../support/raw-http.ts";
import { createConfigDir } from "../support/run-cli.ts";
import type { CommandProcess } from "../support/running-command.ts";
import { BUDGET, pumped } from "../support/time-budget.ts";
import { HOSTILE_JSON, HOSTILE_RESPONSES, list, UNITS } from "./hostile-shapes.ts";

const partner = generateKeyPairSync("ec", { namedCurve: "P-256" });
const HEADER_BYTES = 15 * 1024;
const FORM_BYTES = 64 * 1024;
const FRAME_BYTES = 256 * 1024;

let platform: RunningPlatform;
let api: Api;

beforeAll(async () => {
  const keys = join(createConfigDir(), "keys.json");
  const key = partner.publicKey.export({ type: "spki", format: "pem" }).toString();
  writeFileSync(keys, JSON.stringify({ public_keys: [{ key_identifier: "first", key }] }));
  platform = await startPlatform(["--leak-keys", keys]);
  api = apiOf(platform.baseUrl, platform.sandboxKey);
});
afterAll(() => platform.stop());

/** Sends a request up to three times, and expects a client error within the budget each time. */
async function expectRejected(lines: readonly string[], body: string | Buffer = ""): Promise<void> {
  const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const head = [...lines, "Host: localhost", ...length, "", ""].join("\r\n");
  const bytes = Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
  await expectProcessWithin(BUDGET, platform.pid, async () => {
    const response: RawResponse = await sendRaw(platform.baseUrl, bytes);
    expect(response.status, lines[0]!.slice(0, 80)).toBeGreaterThanOrEqual(400);
    expect(response.status, lines[0]!.slice(0, 80)).toBeLessThan(500);
    expect(response.body.length).toBeLessThan(20_000);
  });
}

const credential = () => `Authorization: Bearer ${platform.sandboxKey}`;

describe.runIf(TELLS_PROCESS_TIME)("a running server rejects bad input within the time budget", () => {
  describe("a JSON body of 1 MiB:", () => {
    it.each(HOSTILE_JSON)("%s", async (_shape, text) => {
      const lines = [credential(), "Content-Type: application/json"];
      await expectRejected(["POST /v1/customers HTTP/1.1", ...lines], text);
      await expectRejected(["POST /nope HTTP/1.1", "Content-Type: application/json"], text);
    });
  });

  describe("a signed leak report of 1 MiB:", () => {
    it.each(HOSTILE_JSON)("%s", async (_shape, text) => {
      const signature = sign("sha256", Buffer.from(text), partner.privateKey).toString("base64");
      const headers = { "Github-Public-Key-Identifier": "first", "Github-Public-Key-Signature": signature };
      await expectProcessWithin(BUDGET, platform.pid, async () => {
        const { status, body } = await apiOf(platform.baseUrl, undefined)(
          "POST",
          "/v1/leaked_keys/report",
          text,
          headers,
        );
        // A text without tokens is an empty report.
        if (status === 200) expect(body).toEqual([]);
        else expect(status).toBe(400);
      });
    });
  });

  it.each(UNITS.filter((unit) => unit !== "\n").map((unit) => [unit]))(
    "%j in a query, a cursor and a header",
    async (unit) => {
      const query = `x${pumped(unit, 8000)}`.replaceAll(" ", "+").replaceAll("é", "%C3%A9");
      await expectRejected([`GET /v1/customers?${query} HTTP/1.1`, credential()]);
      await expectRejected([
        `GET /v1/customers?cursor=${encodeURIComponent(pumped(unit, 2000))} HTTP/1.1`,
        credential(),
      ]);
      await expectRejected([`GET /oauth/authorize?${query} HTTP/1.1`]);
      const value = pumped(unit, HEADER_BYTES);
      for (const name of [
        "Authorization",
        "Service-Version",
        "Github-Public-Key-Signature",
        "X-Forwarded-For",
        "Accept",
      ]) {
        await expectRejected(["POST /v1/leaked_keys/report HTTP/1.1", `${name}: ${value}`]);
      }
      for (const name of ["Idempotency-Key", "Content-Type"]) {
        await expectRejected(["POST /v1/customers HTTP/1.1", credential(), `${name}: ${value}`], "{}");
      }
      await expectRejected(["GET /v1/me HTTP/1.1", "Service-Environment: sandbox", `Cookie: ${value}`]);
      await expectRejected(["GET /v1/events/stream HTTP/1.1", credential(), `Last-Event-ID: x${value}`]);
    },
  );

  it.each(UNITS.map((unit) => [unit]))("a form of %j", async (unit) => {
    const form = pumped(unit, FORM_BYTES);
    for (const path of ["/oauth/token", "/oauth/revoke", "/oauth/device_authorization", "/sign-in"]) {
      await expectRejected([`POST ${path} HTTP/1.1`, "Content-Type: application/x-www-form-urlencoded"], form);
    }
  });

  it("many parameters, headers and cookies, and a form beyond its limit", async () => {
    const many = (join: string) => list(1500, (i) => `a${i}=1`).replaceAll(",", join);
    await expectRejected([`GET /v1/customers?${many("&").slice(0, 8000)} HTTP/1.1`, credential()]);
    await expectRejected(["GET /v1/me HTTP/1.1", "Service-Environment: sandbox", `Cookie: ${many("; ")}`]);
    await expectRejected(["GET /v1/me HTTP/1.1", ...Array.from({ length: 1500 }, (_, i) => `a${i}: 1`)]);
    const form = "Content-Type: application/x-www-form-urlencoded";
    await expectRejected(
      ["POST /oauth/token HTTP/1.1", form],
      list(9000, (i) => `a${i}=1`)
        .replaceAll(",", "&")
        .slice(0, FORM_BYTES),
    );
    await expectRejected(["POST /oauth/token HTTP/1.1", form], "a".repeat(FORM_BYTES + 1));
  });

  describe("a listener's frame of 256 KiB:", () => {
    it.each([...HOSTILE_JSON, ["beyond the limit", "1".repeat(FRAME_BYTES + 1)] as const])(
      "%s",
      async (_shape, text) => {
        await expectProcessWithin(BUDGET, platform.pid, async () => {
          const socket = new WebSocket(`${platform.baseUrl.replace("http", "ws")}/v1/listen`, "service.listen.v1", {
            headers: { Authorization: `Bearer ${platform.sandboxKey}` },
          });
          await once(socket, "open");
          socket.send(text.slice(0, text.length > FRAME_BYTES * 1.5 ? FRAME_BYTES : undefined));
          const [code] = (await once(socket, "close")) as [number];
          expect(code).not.toBe(1000);
        });
      },
    );
  });
});

describe.runIf(TELLS_PROCESS_TIME)("reads a receiver's response of 1 MiB within the time budget", () => {
  let receiver: Server;
  let listener: RunningListener<CommandProcess>;
  let response = "";
  /** Resolves for each client once it has closed the connection or read everything. */
  let closed: Record<string, () => void> = {};

  beforeAll(async () => {
    receiver = createServer((socket: Socket) => {
      let client = "";
      let received = "";
      socket.on("error", () => socket.destroy());
      socket.on("close", () => closed[client]?.());
      socket.on("data", (bytes) => {
        received += bytes.toString("latin1");
        client = /^POST \/(\w+)/.exec(received)?.[1] ?? "";
        if (received.endsWith("}")) socket.end(response, "latin1");
      });
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    await api("POST", "/v1/webhook_endpoints", { url: `${url}/platform`, events: ["*"] });
    listener = await spawnListener(platform.env, ["--forward-to", `${url}/relay`]);
  });
  afterAll(async () => {
    await listener.kill();
    receiver.close();
  });

  it.each(Object.entries(HOSTILE_RESPONSES))("%s", async (_what, bytes) => {
    response = bytes;
    const deliver = async () => {
      const done = ["platform", "relay"].map((client) => new Promise<void>((resolve) => (closed[client] = resolve)));
      expect((await api("POST", "/v1/events", { type: "order.completed", data: {} })).status).toBe(201);
      await Promise.all(done);
    };
    await expectProcessWithin(BUDGET, platform.pid, deliver);
    await expectProcessWithin(BUDGET, listener.pid, deliver);
  });
});
