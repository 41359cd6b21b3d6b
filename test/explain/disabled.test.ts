import { beforeEach, describe, expect, it } from "vitest";
import type { Explanation } from "../../src/cli/explanation.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { startListener } from "../support/listener.ts";
import { explained, plain } from "./support/explained.ts";

const world = explained((_request, response) => response.writeHead(500).end("the warehouse is closed"));
beforeEach(() => world.clear());

const DAYS = 4 * 86_400;
const disable = (id: string) => world.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });

describe("service why beside a disabled endpoint", () => {
  it("reports what happened at the listener first, and the endpoint afterwards", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    await disable(endpoint);
    const listener = await startListener(world.env, ["--forward-to", world.receiver.url, "--retries", "10"]);
    const { event } = await world.order(0);
    const findings = async () => {
      const { stdout } = await world.service(["why", event.id, "--json"]);
      return (JSON.parse(stdout) as Explanation).findings;
    };
    await expect.poll(async () => (await findings())[0]!.code).toBe("receiver_error");
    const [cause, also] = await findings();
    expect(cause!.summary).toMatch(
      /^Your application responded with 500; the listener's next attempt is due .+ did not reach any of 2 receivers: /,
    );
    expect(also).toMatchObject({
      code: "endpoint_disabled",
      subject: endpoint,
      summary: expect.stringMatching(/^Not sent to Billing: it was disabled /),
    });
    await listener.interrupt();
    await expect.poll(() => world.deliveries(`event=${event.id}&status=failed`)).toHaveLength(1);
    const [ended, note] = await findings();
    expect(ended!.summary).toMatch(
      /^Your application responded with 500.+ did not reach any of 2 receivers: 1 failed, /,
    );
    expect(note).toEqual(also);
  });
});

describe("service why for a delivery whose retries ended while its endpoint was disabled", () => {
  it("reports why its last attempt failed, and what to repair before it is retried", async () => {
    const endpoint = await world.endpoint("https://no-such-host.invalid/hook");
    const { event, deliveries } = await world.order(1);
    await disable(endpoint);
    await advanceClock(world.api, DAYS);
    const [delivery] = deliveries;
    const retry = `service deliveries retry ${delivery!.id}`;
    await expect.poll(async () => (await world.deliveries(`event=${event.id}`))[0]!.status).toBe("failed");
    const answer = await world.why(delivery!.id);
    expect(plain(answer)).toMatchObject({
      code: "dns",
      summary:
        "The host name no-such-host.invalid could not be resolved; the only attempt failed, and the endpoint stayed disabled for the rest of the 3 days",
      evidence: expect.stringMatching(/^Attempt 1 at T: /),
      action: "Fix its DNS record, or correct the endpoint's URL, then enable the endpoint and retry the delivery",
      fix: `service endpoints enable ${endpoint} && ${retry}`,
    });
    const { stdout } = await world.service(["why", delivery!.id]);
    expect(stdout).not.toContain("endpoint disabled");
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "enabled" });
    expect(await world.why(delivery!.id)).toMatchObject({
      code: "dns",
      action: "Fix its DNS record, or correct the endpoint's URL, then retry",
      fix: retry,
    });
  });
});
