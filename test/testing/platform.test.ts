import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type * as testing from "../../src/testing/index.ts";
import { freePort } from "../support/free-port.ts";
import { startReceiver } from "../support/receiver.ts";
import { runCli } from "../support/run-cli.ts";
import { volume } from "../support/volume.ts";
import { BUILT, PlatformError, startPlatform } from "./kit.ts";

const PLATFORMS = volume(10, 3);
const ADA = { email: "ada@example.com" };
const ORDER = { amount: 1999, currency: "EUR" };

let platform: testing.Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

describe("startPlatform", () => {
  beforeEach(() => platform.reset());

  it("starts an empty platform whose URL and keys work", async () => {
    await platform.request("POST", "/v1/customers", ADA);
    expect((await platform.request("GET", "/v1/customers")).data).toMatchObject([ADA]);
    expect(platform.apiKey).toMatch(/^sk_sandbox_/);
    expect(platform.liveKey).toMatch(/^sk_live_/);
    const live = await fetch(`${platform.baseUrl}/v1/customers`, {
      headers: { Authorization: `Bearer ${platform.liveKey}` },
    });
    expect(await live.json()).toMatchObject({ data: [] });
  });

  it("gives the command `service` what it needs in `env`", async () => {
    const { exitCode } = await runCli(["customers", "create", "--email", ADA.email], { env: platform.env });
    expect(exitCode).toBe(0);
    expect((await platform.request("GET", "/v1/customers")).data).toMatchObject([ADA]);
  });

  it("rejects a failed request with the problem of the response", async () => {
    const failed = platform.request("GET", "/v1/customers/cus_0000000000000000000000");
    await expect(failed).rejects.toThrow(/^GET \/v1\/customers\/cus_0+ failed with 404 not_found: /);
    const error = await failed.catch((reason: unknown) => reason as testing.PlatformError);
    expect(error).toBeInstanceOf(PlatformError);
    expect(error).toMatchObject({ status: 404, code: "not_found", problem: { title: expect.any(String) } });
    expect((error as testing.PlatformError).requestId).toMatch(/^req_/);
  });

  it("starts a platform from CommonJS, too", async () => {
    const kit = createRequire(import.meta.url)("../../dist/testing/index.cjs") as typeof testing;
    const other = await kit.startPlatform();
    expect((await other.request("GET", "/v1/customers")).data).toEqual([]);
    await other.close();
  });

  it("closes the platform at the end of `await using`", async () => {
    let url: string;
    {
      await using other = await startPlatform();
      url = other.baseUrl;
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    }
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it(`starts ${PLATFORMS} platforms at once, each with its own port and data`, async () => {
    const all = await Promise.all(Array.from({ length: PLATFORMS }, () => startPlatform()));
    await Promise.all(all.map((one, index) => one.request("POST", "/v1/customers", { email: `${index}@example.com` })));
    const lists = await Promise.all(all.map((one) => one.request("GET", "/v1/customers")));
    expect(lists.map(({ data }) => (data as { email: string }[]).map(({ email }) => email))).toEqual(
      all.map((_one, index) => [`${index}@example.com`]),
    );
    expect(new Set(all.map(({ baseUrl }) => baseUrl)).size).toBe(PLATFORMS);
    await Promise.all(all.map((one) => one.close()));
  });

  it("works while a test replaces timers and fetch", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", () => Promise.reject(new Error("not mocked")));
    try {
      await platform.request("POST", "/v1/customers", ADA);
      await platform.waitForEvent("customer.created");
      await expect(platform.waitForEvent("customer.deleted", { within: "10ms" })).rejects.toThrow("within 10ms");
      await platform.advance("1h");
      await (await startPlatform()).close();
    } finally {
      vi.unstubAllGlobals();
      vi.useRealTimers();
    }
  });

  it("uses the given port, and rejects with the reason if it is in use", async () => {
    const port = await freePort();
    await using other = await startPlatform({ port });
    expect(other.baseUrl).toBe(`http://127.0.0.1:${port}`);
    await expect(startPlatform({ port })).rejects.toThrow(
      new RegExp(`^service serve failed: Cannot listen on 127.0.0.1:${port}: the port is in use`),
    );
  });

  it("keeps the data of a given database, and finds its keys again", async () => {
    const database = join(mkdtempSync(join(tmpdir(), "kit-database-")), "platform.db");
    const first = await startPlatform({ database });
    await first.request("POST", "/v1/customers", ADA);
    await first.close();
    await using second = await startPlatform({ database });
    expect(second.apiKey).toBe(first.apiKey);
    expect((await second.request("GET", "/v1/customers")).data).toMatchObject([ADA]);
  });

  it("sends a seed first, and rejects with the call that failed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "kit-seed-"));
    const seed = join(folder, "seed.json");
    const call = { method: "POST", path: "/v1/customers", body: ADA };
    writeFileSync(seed, JSON.stringify([call]));
    const other = await startPlatform({ seed });
    expect((await other.request("GET", "/v1/customers")).data).toMatchObject([ADA]);
    await other.close();
    writeFileSync(seed, JSON.stringify([call, call]));
    await expect(startPlatform({ seed })).rejects.toThrow(/^service trigger failed: .*email/s);
  });

  it("passes on the platform's log", async () => {
    const lines: string[] = [];
    const other = await startPlatform({ log: (line) => lines.push(line) });
    await other.request("GET", "/v1/orders");
    await other.close();
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ event: "request", method: "GET", path: "/v1/orders", status: 200 }),
    );
  });

  it("does not use the developer's settings or the options of the test runner", async () => {
    vi.stubEnv("SERVICE_DATABASE", "/nowhere/platform.db");
    vi.stubEnv("SERVICE_API_KEY", "sk_live_wrong");
    vi.stubEnv("NODE_OPTIONS", "--require /nowhere/setup.js");
    try {
      await using other = await startPlatform();
      expect((await other.request("GET", "/v1/customers")).data).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("leaves no files", async () => {
    const other = await startPlatform();
    await using _listener = await other.listen({ forwardTo: "http://127.0.0.1:9" });
    const folder = other.env["SERVICE_CONFIG_DIR"]!;
    await other.close();
    expect(existsSync(folder)).toBe(false);
  });

  it("leaves no files if it is closed while a receiver does not respond", async () => {
    const temporary = mkdtempSync(join(tmpdir(), "kit-files-"));
    vi.stubEnv("TMPDIR", temporary);
    const receiver = createServer().listen(0, "127.0.0.1");
    await once(receiver, "listening");
    try {
      const other = await startPlatform();
      expect(readdirSync(temporary)).not.toEqual([]);
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      await other.request("POST", "/v1/webhook_endpoints", { url, events: ["*"] });
      const attempt = once(receiver, "request");
      await other.request("POST", "/v1/customers", ADA);
      await attempt;
      await other.close();
      expect(readdirSync(temporary)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      receiver.closeAllConnections();
      receiver.close();
    }
  });
});

describe("waitForEvent", () => {
  beforeEach(() => platform.reset());

  it("resolves with an event from before the call or after it, and with each event once", async () => {
    const { id } = await platform.request("POST", "/v1/orders", ORDER);
    const created = await platform.waitForEvent("order.created");
    expect(created).toMatchObject({ type: "order.created", data: { object: { id, ...ORDER } } });
    const second = platform.waitForEvent("order.created");
    const order = await platform.request("POST", "/v1/orders", ORDER);
    expect((await second).data.object.id).toBe(order.id);
  });

  it("selects events by values at paths, or with a function", async () => {
    for (const amount of [1, 2, 3]) await platform.request("POST", "/v1/orders", { ...ORDER, amount });
    const two = await platform.waitForEvent("order.created", { where: { "data.object.amount": 2, livemode: false } });
    expect(two.data.object.amount).toBe(2);
    const three = await platform.waitForEvent("order.created", { where: ({ data }) => data.object.amount > 2 });
    expect(three.data.object.amount).toBe(3);
  });

  it("rejects after its timeout with the events that arrived instead", async () => {
    await expect(platform.waitForEvent("order.completed", { within: "1ms" })).rejects.toThrow(
      "No order.completed within 1ms. There were no other events",
    );
    const { id } = await platform.request("POST", "/v1/orders", ORDER);
    const { id: event } = await platform.waitForEvent("order.created");
    await platform.request("POST", `/v1/orders/${id}/cancel`);
    const paid = platform.waitForEvent("order.canceled", { where: { "data.object.amount": 1 }, within: "1s" });
    await expect(paid).rejects.toThrow(
      /^No order\.canceled with data\.object\.amount=1 within 1s\. Nearest: evt_\w+, whose data\.object\.amount is 1999$/,
    );
    expect(event).toMatch(/^evt_/);
    await expect(platform.waitForEvent("payment.failed", { within: "1s" })).rejects.toThrow(
      "No payment.failed within 1s. Events that arrived: 1 order.canceled",
    );
  });

  it("rejects an invalid duration", async () => {
    await expect(platform.waitForEvent("order.created", { within: "5 seconds" })).rejects.toThrow(
      '"5 seconds" is not a duration such as 500ms, 30s, 2h or 3d',
    );
    await expect(platform.advance("tomorrow")).rejects.toThrow(TypeError);
  });
});

describe("listen", () => {
  beforeEach(() => platform.reset());

  it("forwards events to a receiver, signed with the secret that it returns", async () => {
    let secret = "";
    const receiver = await startReceiver(() => secret);
    await using listener = await platform.listen({ forwardTo: receiver.url });
    ({ secret } = listener);
    await platform.request("POST", "/v1/customers", ADA);
    await receiver.until(() => receiver.events.length === 1);
    expect(receiver.rejections).toEqual([]);
    await receiver.close();
  });

  it("signs with a given secret, which the process list does not show, until it is closed", async () => {
    const secret = `whsec_${"a".repeat(43)}`;
    const receiver = await startReceiver(() => secret);
    const listener = await platform.listen({ forwardTo: receiver.url, secret });
    expect(execFileSync("ps", ["-A", "-o", "args="], { encoding: "utf8" })).not.toContain(secret);
    await platform.request("POST", "/v1/customers", ADA);
    await receiver.until(() => receiver.events.length === 1);
    await listener.close();
    await platform.request("POST", "/v1/orders", ORDER);
    await platform.waitForEvent("order.created");
    expect(receiver.events).toHaveLength(1);
    await receiver.close();
  });

  it("rejects an invalid target URL with the reason", async () => {
    await expect(platform.listen({ forwardTo: "ftp://example.com" })).rejects.toThrow(/^service listen failed: /);
  });
});

describe("advance, save and restore", () => {
  beforeEach(() => platform.reset());

  it("runs three days of retries in one call", async () => {
    const receiver = await startReceiver(() => "");
    await platform.request("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["order.created"] });
    await platform.request("POST", "/v1/orders", ORDER);
    await platform.advance("4d");
    const { data } = await platform.request("GET", "/v1/deliveries");
    expect(data).toMatchObject([{ status: "failed" }]);
    expect(receiver.rejections.length).toBeGreaterThan(10);
    await receiver.close();
  });

  it("restore a saved state, after which earlier events are waited for again", async () => {
    const customer = await platform.request("POST", "/v1/customers", ADA);
    await platform.save("ada");
    for (const round of [1, 2]) {
      await platform.restore("ada");
      const order = await platform.request("POST", "/v1/orders", { ...ORDER, customer: customer.id });
      const event = await platform.waitForEvent("order.created");
      expect(event.data.object.id, `round ${round}`).toBe(order.id);
      expect((await platform.request("GET", "/v1/orders")).data).toHaveLength(1);
    }
  });
});

describe("faults", () => {
  beforeEach(() => platform.reset());

  it("make requests fail, until they are cleared", async () => {
    expect(await platform.faults.add("POST /v1/orders", { status: 503, times: 1 })).toMatch(/^flt_/);
    await expect(platform.request("POST", "/v1/orders", ORDER)).rejects.toThrow("503 unavailable");
    await platform.request("POST", "/v1/orders", ORDER);
    await platform.faults.add("/v1/orders*", { loseResponse: true });
    await expect(platform.request("POST", "/v1/orders", ORDER)).rejects.toThrow("socket hang up");
    await platform.faults.clear();
    await platform.faults.add("GET /v1/orders", { delay: "1ms" });
    expect((await platform.request("GET", "/v1/orders")).data).toHaveLength(2);
  });

  it("must have one effect and an existing path", async () => {
    await expect(platform.faults.add("/v1/orders", {})).rejects.toThrow("A fault has one effect");
    await expect(platform.faults.add("/v1/orders", { status: 503, truncate: true })).rejects.toThrow(TypeError);
    await expect(platform.faults.add("/v1/order", { status: 503 })).rejects.toThrow("did you mean /v1/orders?");
  });
});

describe("the process of the platform", () => {
  /** Starts a platform and a listener in another process. `after` is what that does then. */
  const start = async (after: string) => {
    const source = `
      import { startPlatform } from ${JSON.stringify(BUILT)};
      const platform = await startPlatform();
      await platform.listen({ forwardTo: "http://127.0.0.1:9" });
      console.log(platform.baseUrl);
      ${after}`;
    const holder = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(holder, "exit") as Promise<[number | null]>;
    const [baseUrl] = (await once(createInterface(holder.stdout), "line")) as [string];
    return { holder, exited, baseUrl };
  };
  const isGone = async (baseUrl: string) =>
    await fetch(`${baseUrl}/healthz`).then(
      () => false,
      () => true,
    );

  it("ends with the process that started it, even after kill -9", async () => {
    const { holder, exited, baseUrl } = await start("setInterval(() => {}, 1000);");
    expect(await isGone(baseUrl)).toBe(false);
    holder.kill("SIGKILL");
    await exited;
    await expect.poll(() => isGone(baseUrl)).toBe(true);
  });

  it("does not keep a test runner running that forgets to close it", async () => {
    const { exited, baseUrl } = await start("");
    expect((await exited)[0]).toBe(0);
    await expect.poll(() => isGone(baseUrl)).toBe(true);
  });
});
