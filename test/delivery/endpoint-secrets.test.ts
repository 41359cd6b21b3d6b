import { describe, expect, it } from "vitest";
import { verify } from "../../src/webhooks/index.ts";
import { receiverOnPlatform } from "./support/receiver-on-platform.ts";

const SECRET = /^whsec_[0-9A-Za-z_-]{43}$/;

const on = receiverOnPlatform();
const { api } = on;

const create = (body: object) => api("POST", "/v1/webhook_endpoints", body);
const good = { url: "https://hooks.example.com/in", events: ["order.completed"] };

describe("a secret's rotation", () => {
  /** Returns the signatures of the next ping, checked with each secret. */
  async function signedBy(id: string, path: string, secrets: string[]): Promise<boolean[]> {
    const count = on.receiver.at(path).length;
    await api("POST", `/v1/webhook_endpoints/${id}/ping`);
    await on.receiver.until(count + 1, path);
    const { body: payload, headers } = on.receiver.at(path).at(-1)!;
    const signatures = String(headers["service-signature"]).match(/v1=/g) ?? [];
    const verified = secrets.map((secret) => {
      try {
        verify({ payload, header: headers["service-signature"], secrets: secret });
        return true;
      } catch {
        return false;
      }
    });
    expect(signatures).toHaveLength(verified.filter(Boolean).length);
    return verified;
  }

  it("signs with both until the overlap ends", async () => {
    const path = "/rotated";
    const { id, secret: first } = (await create({ url: on.receiver.url + path, events: ["*"] })).body;
    expect(await signedBy(id, path, [first])).toEqual([true]);

    const rotated = await api("POST", `/v1/webhook_endpoints/${id}/rotate_secret`, { overlap_seconds: 60 });
    expect(rotated.status).toBe(200);
    const second = rotated.body.secret;
    expect(second).toMatch(SECRET);
    expect(second).not.toBe(first);
    expect(await signedBy(id, path, [first, second])).toEqual([true, true]);

    await api("POST", "/v1/test_clock/advance", { seconds: 61 });
    expect(await signedBy(id, path, [first, second])).toEqual([false, true]);

    const third = (await api("POST", `/v1/webhook_endpoints/${id}/rotate_secret`, { overlap_seconds: 0 })).body.secret;
    expect(await signedBy(id, path, [first, second, third])).toEqual([false, false, true]);
  });

  it("overlaps for a day by default, and reports the secret's age", async () => {
    const path = "/day";
    const created = (await create({ url: on.receiver.url + path, events: ["*"] })).body;
    await api("POST", "/v1/test_clock/advance", { seconds: 3600 });
    const rotated = (await api("POST", `/v1/webhook_endpoints/${created.id}/rotate_secret`)).body;
    expect(rotated.created).toBe(created.created);
    expect(Date.parse(rotated.secret_created) - Date.parse(created.secret_created)).toBeGreaterThanOrEqual(3_600_000);
    await api("POST", "/v1/test_clock/advance", { seconds: 86_000 });
    expect(await signedBy(created.id, path, [created.secret, rotated.secret])).toEqual([true, true]);
    await api("POST", "/v1/test_clock/advance", { seconds: 500 });
    expect(await signedBy(created.id, path, [created.secret, rotated.secret])).toEqual([false, true]);
  });

  it.each([-1, 604_801, 1.5, "60", null])("rejects an overlap of %j", async (overlap) => {
    const { id } = (await create(good)).body;
    const response = await api("POST", `/v1/webhook_endpoints/${id}/rotate_secret`, { overlap_seconds: overlap });
    expect(response.status).toBe(400);
  });
});
