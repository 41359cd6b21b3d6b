import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { figure } from "../platform/delivery/support/figures.ts";
import { startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { apiOf } from "../support/api.ts";
import { startNode } from "../support/platform.ts";

const DELIVERIES = 1800;
const HOUR = 3600;
const RESPONSE_MS = 2000;
const PATIENT = { timeout: 600_000, interval: 100 };

/** Returns the process's peak memory in megabytes. */
function peakOf(pid: number): number {
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);
}

it.each([30, 1])(
  "an advance by an hour attempts 1,800 deliveries to %i endpoints that respond after 2 s",
  async (endpoints) => {
    const node = await startNode(join(mkdtempSync(join(tmpdir(), "service-advance-")), "platform.db"), []);
    onTestFinished(() => node.kill());
    const api = apiOf(node.baseUrl, node.sandboxKey);
    const call = async (method: string, path: string, body?: unknown) => {
      const response = await api(method, path, body);
      expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
      return response.body;
    };
    let inFlight = 0;
    let maxInFlight = 0;
    let timeouts = 0;
    const receiver = await startScriptedReceiver((request, response) => {
      request.body = "";
      maxInFlight = Math.max(maxInFlight, (inFlight += 1));
      response.once("close", () => {
        inFlight -= 1;
        if (!response.writableFinished) timeouts += 1;
      });
      const isFirst = request.headers["service-delivery-attempt"] === "1";
      setTimeout(() => response.writeHead(500).end(), isFirst ? 0 : RESPONSE_MS);
    });
    onTestFinished(() => receiver.close());
    for (let i = 0; i < endpoints; i++) {
      await call("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/${i}`, events: ["order.completed"] });
    }
    for (let i = 0; i < DELIVERIES / endpoints; i++) {
      await call("POST", "/v1/events", { type: "order.completed", data: { id: `ord_${i}` } });
    }
    await expect.poll(() => receiver.received.length, PATIENT).toBe(DELIVERIES);
    const before = peakOf(node.pid);
    const began = performance.now();
    await call("POST", "/v1/test_clock/advance", { seconds: HOUR });
    let shown = await call("GET", "/v1/test_clock");
    await expect
      .poll(async () => {
        const earlier = shown;
        shown = await call("GET", "/v1/test_clock");
        expect(shown.attempts).toBeGreaterThanOrEqual(earlier.attempts);
        return shown.status;
      }, PATIENT)
      .toBe("idle");
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    figure(
      `${DELIVERIES} deliveries to ${endpoints} endpoints of ${RESPONSE_MS} ms: ${shown.attempts} attempts in ${seconds} s, ${maxInFlight} at once; peak ${before} MB before, ${peakOf(node.pid)} MB`,
    );
    expect(timeouts).toBe(0);
    // The worker may have attempted the first retries earlier.
    expect(shown.attempts).toBeGreaterThanOrEqual(5 * DELIVERIES);
    expect(shown.failed).toBe(shown.attempts);
  },
);
