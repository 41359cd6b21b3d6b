import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { apiOf } from "../../support/api.ts";
import { hostedPlatform } from "./support/hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const platform = hostedPlatform();
let receiver: ScriptedReceiver;

beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) => response.writeHead(path === "/500" ? 500 : 200).end());
});
afterAll(() => receiver.close());

const anonymous = () => apiOf(platform.baseUrl, undefined);

describe("health checks", () => {
  it("need no credential", async () => {
    expect(await anonymous()("GET", "/healthz")).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(await anonymous()("GET", "/readyz")).toMatchObject({ status: 200, body: { status: "ready" } });
  });

  it("are not reported as requests", async () => {
    await anonymous()("GET", "/healthz");
    await anonymous()("GET", "/metrics");
    const paths = platform.activities.map((activity) => ("path" in activity ? activity.path : ""));
    expect(paths).not.toContain("/healthz");
    expect(paths).not.toContain("/metrics");
  });
});

describe("metrics", () => {
  it("count requests and attempts, without the tenants' data", async () => {
    const endpoints: string[] = [];
    for (const path of ["/200", "/500"]) {
      const created = await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events: ["*"] });
      endpoints.push(created.body.id, created.body.secret);
    }
    const { id } = (await platform.api("POST", "/v1/customers", { email: "ada@example.com" })).body;
    await platform.api("GET", `/v1/customers/${id}`);
    await platform.api("GET", "/v1/nowhere");
    await receiver.until(2);
    await expect.poll(() => platform.activities.filter(({ event }) => event === "delivery").length).toBe(2);
    // Not every scrape counts the queue.
    const response = await vi.waitFor(
      async () => {
        const scraped = await anonymous()("GET", "/metrics");
        expect(scraped.body).toContain("service_deliveries_pending 1");
        return scraped;
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text: string = response.body;
    expect(text).toContain('service_http_requests_total{method="POST",route="/v1/customers",status="201"} 1');
    expect(text).toContain('service_http_requests_total{method="GET",route="/v1/customers/:id",status="200"} 1');
    expect(text).toContain('service_http_requests_total{method="GET",route="unknown",status="404"} 1');
    expect(text).toContain('service_http_request_duration_seconds_count{method="POST",route="/v1/customers"} 1');
    expect(text).toContain('service_delivery_attempts_total{outcome="succeeded"} 1');
    expect(text).toContain('service_delivery_attempts_total{outcome="retrying"} 1');
    expect(text).toContain("service_delivery_attempt_duration_seconds_count 2");
    expect(text).toContain("service_deliveries_oldest_due_seconds 0");
    expect(text).toMatch(/^service_build_info\{version="[^"]+",node="\d+\.\d+\.\d+"\} 1$/m);
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "nodejs_eventloop_lag_seconds"]) {
      expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
    }
    const described = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
    expect(described).toEqual([...new Set(described)]);
    const gauges = [...text.matchAll(/^# TYPE (\w+) gauge$/gm)].map(([, name]) => name!);
    expect(gauges.filter((name) => name.endsWith("_total"))).toEqual([]);
    for (const secret of [...endpoints, id, "ada@example.com", receiver.url, platform.sandboxKey]) {
      expect(text).not.toContain(secret);
    }
  });
});
