import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/ports.ts";
import { startRawReceiver } from "../../relay/support/receivers.ts";
import type { Api } from "../../support/api.ts";
import { apiOnPlatform } from "../../support/api-on-platform.ts";
import { hostedPlatform } from "./support/hosted-platform.ts";

const { api } = apiOnPlatform();
/** Its connections are never idle for too long, however slow the machine is. */
const still = hostedPlatform({ clock: { ...systemClock, elapsed: () => 0 } });

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** Delivers two events in sequence to a receiver that sends these bytes. Resolves with the attempts. */
async function attemptsAt(api: Api, response: string) {
  const receiver = await startRawReceiver((socket) => socket.write(response));
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: receiver.url.href, events: ["*"] })).body;
  const attempts: unknown[] = [];
  for (let i = 0; i < 2; i++) {
    const { id: event } = (await api("POST", "/v1/events", { type: "order.completed", data: {} })).body;
    await expect
      .poll(async () => {
        const { data } = (await api("GET", `/v1/deliveries?event=${event}&endpoint=${id}`)).body;
        const delivery = (await api("GET", `/v1/deliveries/${data[0].id}`)).body;
        attempts.push(...delivery.attempts);
        return delivery.attempts.length;
      })
      .toBe(1);
  }
  await api("DELETE", `/v1/webhook_endpoints/${id}`);
  return { attempts, connections: receiver.connections() };
}

describe("an endpoint's response", () => {
  it.each([
    ["an unexpected 100 Continue", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["several interim responses", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 \r\n\r\n"],
    ["early hints", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"],
  ])("is accepted after %s, and the connection remains usable", async (_what, interim) => {
    expect(await attemptsAt(still.api, interim + OK)).toEqual({
      attempts: Array.from({ length: 2 }, () =>
        expect.objectContaining({ status_code: 200, error: null, response_excerpt: "ok" }),
      ),
      connections: 1,
    });
  });

  it.each([
    ["a status below 100", "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n"],
    ["a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
  ])("is reported as invalid immediately if it is %s", async (_what, response) => {
    const { attempts } = await attemptsAt(api, response);
    const [attempt] = attempts as { duration_ms: number }[];
    expect(attempt).toMatchObject({ status_code: null, error: "invalid_response: the response is not valid HTTP" });
    // A failed assertion of Node.js would read the whole program first, which blocks the platform.
    expect(attempt!.duration_ms).toBeLessThan(5000);
  });
});
